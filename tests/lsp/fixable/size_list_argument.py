import torch


@torch.compile(backend="eager")
def join(parts):
    return torch.cat(parts).sum()


for n in (2, 3, 4):
    parts = [torch.ones(n), torch.ones(2)]
    y = join(parts)
print(y)
