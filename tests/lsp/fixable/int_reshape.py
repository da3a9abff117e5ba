import torch


@torch.compile(backend="eager")
def split(x, parts):
    return x.reshape(int(parts), -1).sum(1)


print(split(torch.arange(6.0), torch.tensor(2)))
