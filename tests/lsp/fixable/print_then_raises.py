import torch


@torch.compile(backend="eager")
def risky(x, fail):
    print("about to")
    y = x + 1
    if fail:
        raise ValueError("failed")
    return y


print(risky(torch.ones(1), False))
try:
    risky(torch.ones(1), True)
except ValueError as error:
    print(error)
