import torch

seen = []


@torch.compile(backend="eager")
def note(x):
    if x.sum() > 0:
        seen.append("positive")
    return x + 1


note(torch.ones(2))
note(-torch.ones(2))
print(seen)
