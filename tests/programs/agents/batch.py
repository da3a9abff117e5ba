import torch


@torch.compile(backend="eager")
def normed(x, scale):
    return (x - x.mean()) * scale


for n in (4, 8, 12):
    batch = torch.ones(n, 3)
    out = normed(batch, 0.5)
print(out.shape)
