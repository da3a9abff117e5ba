import torch


@torch.compile(backend="eager")
def cumulate(x):
    total = x[0] * 0
    for i in range(x.shape[0]):
        total = total + x[i]
    return total


for n in (2, 3, 4):
    x = torch.ones(n, 2)
    y = cumulate(x)
print(y)
