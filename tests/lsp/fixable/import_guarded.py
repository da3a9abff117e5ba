try:
    import torch
except ImportError:
    raise SystemExit("needs torch")


@torch.compile(backend="eager")
def f(x):
    return x * x.sum().item()


print(f(torch.ones(2)))
