import torch


@torch.compile(backend="eager")
def attend(q, k):
    return (q @ k.T).softmax(-1)


for n, m in ((2, 3), (4, 3), (4, 5), (6, 7)):
    q, k = torch.ones(n, 8), torch.ones(m, 8)
    y = attend(q, k)
print(y.shape)
