import time
import torch
from torch import nn


class Timer:
    def __init__(self):
        self.total = 0.0

    def __enter__(self):
        self.start = time.time()
        return self

    def __exit__(self, *exc):
        self.total += time.time() - self.start


timer = Timer()
mlp = nn.Sequential(nn.Linear(4, 4), nn.ReLU())


@torch.compile(backend="eager")
def timed(x):
    start = time.perf_counter()  # breaks
    y = mlp(x)
    elapsed = time.perf_counter() - start  # breaks
    print(f"{elapsed:.4f} s")  # breaks
    return y


@torch.compile(backend="eager")
def in_context(x):
    with timer:  # breaks
        y = mlp(x)
    return y + 1


timed(torch.randn(2, 4))
in_context(torch.randn(2, 4))
