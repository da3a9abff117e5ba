"""Names of builtins that are something else here."""

import torch
from console import *


@torch.compile(backend="eager")
def f(x):
    print("shape", x.shape)
    return open(x)


def g(x, print=lambda *a: None, input=None):
    print("hello")
    time = Clock()
    return x + time.time()


class Clock:
    def time(self):
        return 1


if __name__ == "__main__":
    f(torch.ones(3))
    torch.compile(g, backend="eager")(torch.ones(3))
