import torch


@torch.compile(backend="eager")
def limit(x, top):
    return x.clamp(max=top.item())


print(limit(torch.arange(4.0), torch.tensor(2.0)))
