import torch as th


@th.compile(backend="eager")
def f(x):
    return x + x.min().item()


print(f(th.arange(3.0)))
