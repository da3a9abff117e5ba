import torch


def weighted(x, n):
    return x * torch.ones(n)


run = torch.compile(weighted, backend="eager")
for n in (4, 2, 3):
    print(run(torch.ones(n), n).sum())
