import torch


@torch.compile(backend="eager")
def schedule(x, rate):
    return x * rate


for rate in (0.1, 0.2, 0.3):
    y = schedule(torch.ones(2), rate)
print(y)
