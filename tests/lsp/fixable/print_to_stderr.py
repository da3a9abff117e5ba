import sys

import torch


@torch.compile(backend="eager")
def show(x):
    print("to the log", file=sys.stderr)
    print("no newline", end=";")
    return x * 2


print(show(torch.ones(2)))
