import torch


@torch.compile(backend="eager")
def f(xs):
    total = torch.zeros(())
    for i in range(3):
        x = xs[i]
        if x.mean() > 0:
            x = x * 2
        total = total + x.sum()
        print("at", i, total)
    return total


print(f(torch.tensor([[1.0, 2], [-1, -2], [3, 4]])))
