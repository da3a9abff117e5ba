"""A function compiled twice, which calls one that runs uncompiled, and in the end fits neither compile."""

import torch


@torch._dynamo.disable
def uncompiled(x):
    return x * 2  #: uncompiled


@torch.compile(backend="eager", dynamic=False)
def guarded(x, scale):
    y = uncompiled(x * scale)  #: traced
    return y + 1


def call(size):
    return guarded(torch.ones(size), 2)


if __name__ == "__main__":
    call(3)
    call(4)
    call(4)
