import torch


@torch.compile(backend="eager")
def describe(x):
    text = f"mean {x.mean().item():.3f}"
    return x + 1, text


print(describe(torch.ones(2)))
