"""Compiling is off by default."""

import os

import torch

COMPILE = os.environ.get("MY_COMPILE", "0") == "1"


@torch.compile(backend="eager", disable=not COMPILE)
def maybe(x):
    print("maybe", x.shape)
    return x.sum().item()


@torch.compile(backend="eager")
@torch.compiler.disable
def never(x):
    print("never")  # breaks
    return x


if __name__ == "__main__":
    maybe(torch.ones(3))
    never(torch.ones(3))
