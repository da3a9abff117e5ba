"""Context managers around what breaks."""

import contextlib
import threading
import warnings

import torch
from torch.profiler import record_function

lock = threading.Lock()


@torch.compile(backend="eager")
def a(x):
    with torch.no_grad():
        y = x * 2
        print("inside no_grad")  # breaks
        y = y + 1
    print("after no_grad")  # breaks
    return y


@torch.compile(backend="eager")
def b(x):
    with record_function("block"):
        y = x.relu()
        v = y.sum().item()  # breaks
    print("after profiler")  # breaks
    return y * v


@torch.compile(backend="eager")
def c(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # breaks
        warnings.warn("hidden")
    return x + 1


@torch.compile(backend="eager")
def d(x):
    with lock:  # breaks
        y = x + 1
        print("locked")
    print("unlocked")
    return y


@torch.compile(backend="eager")
def e(x):
    with contextlib.nullcontext():
        y = x + 1
        print("null")  # breaks
    with torch.autocast("cpu", dtype=torch.bfloat16):
        z = y @ y
        if z.sum() > 0:  # breaks
            z = z + 1
    with contextlib.suppress(ValueError):
        print("suppressed")  # breaks
    return z


if __name__ == "__main__":
    for f in (a, b, c, d, e):
        f(torch.ones(3, 3))
