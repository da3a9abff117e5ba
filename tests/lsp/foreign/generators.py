"""Generators, consumed and not."""

import torch


def pieces(x, n=2):
    for part in x.chunk(n):
        yield part * 2


def announced(x):
    print("starting")
    yield x
    yield x + 1


@torch.compile(backend="eager")
def summed(x):
    return sum(part.sum() for part in pieces(x))


@torch.compile(backend="eager")
def never_started(x):
    later = announced(x)
    if later is None:
        print("nothing")
    return x.cos()


if __name__ == "__main__":
    summed(torch.ones(4))
    never_started(torch.ones(4))
