"""Functions and classes defined inside, called or not."""

import collections
from dataclasses import dataclass
from typing import NamedTuple

import torch


class Output(NamedTuple):
    loss: torch.Tensor
    logits: torch.Tensor


@dataclass
class Batch:
    x: torch.Tensor
    name: str = "batch"


@torch.compile(backend="eager")
def f(x):
    def debug():
        print("debug", x.sum().item())

    def scale(t, by=2):
        return t * by

    hooks = {"debug": debug}
    batch = Batch(x)
    out = Output(loss=scale(batch.x).sum(), logits=x)
    pair = collections.namedtuple("Pair", "a b")(x, x)
    if hooks and out.loss is not None:
        return pair.a + out.logits
    return debug()


@torch.compile(backend="eager")
def g(x):
    class Local:  # breaks
        def __init__(self, v):
            self.v = v

    return Local(x).v + 1


@torch.compile(backend="eager")
def h(x):
    total = 0

    def add(t):
        nonlocal total
        total = total + t.sum()

    add(x)
    if total > 0:  # breaks
        return x
    return -x


if __name__ == "__main__":
    f(torch.ones(3))
    g(torch.ones(3))
    h(torch.ones(3))
