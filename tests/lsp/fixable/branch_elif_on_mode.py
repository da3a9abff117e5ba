import torch


@torch.compile(backend="eager")
def pool(x, mode):
    if mode == "mean":
        x = x.mean(0)
    elif x.max() > 1:
        x = x / 2
    else:
        x = x + 1
    return x.exp()


print(pool(torch.ones(2, 3), "mean"), pool(torch.ones(2, 3), "max"), pool(torch.ones(2, 3) * 3, "max"))
