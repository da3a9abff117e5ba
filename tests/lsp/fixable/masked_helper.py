import torch


def select(x, threshold):
    return x[x > threshold]


@torch.compile(backend="eager")
def f(x):
    y = select(x, 0.0)
    if y.shape[0] == 0:
        return x.sum() * 0
    return y.mean()


print(f(torch.tensor([1.0, -1.0])), f(torch.tensor([-1.0, -1.0])))
