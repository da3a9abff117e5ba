import torch


@torch.compile(backend="eager", dynamic=False)
def scaled(x):
    return x.sin() * 2


for n in (4, 6, 9):
    x = torch.ones(n)
    out = scaled(x)
print(out.shape)
