"""try/except around plain Python, and around a tensor's value."""

import torch


@torch.compile(backend="eager")
def scaled(x, options):
    try:
        scale = options["scale"]
    except KeyError:
        scale = torch.ones(1)
    if scale > 1:
        x = x * scale
    return x


@torch.compile(backend="eager")
def guarded(x):
    try:
        value = x.sum().item()  # breaks
    except RuntimeError:
        value = 0.0
    print("value", value)
    return x + value


@torch.compile(backend="eager")
def finally_prints(x):
    y = x * 2
    try:
        y = y.view(-1)
    finally:
        print("viewed")  # breaks
    return y


if __name__ == "__main__":
    scaled(torch.ones(3), {"scale": 2.0})
    guarded(torch.ones(3))
    finally_prints(torch.ones(3))
