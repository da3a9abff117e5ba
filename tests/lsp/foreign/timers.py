"""Timers, seeds, ids, files: the things around a model."""

import contextlib
import gc
import inspect
import json
import os
import random
import sys
import time
from functools import lru_cache, wraps

import torch


@contextlib.contextmanager
def timed(name):
    began = time.perf_counter()  # breaks
    yield
    sys.stderr.write(f"{name} {time.perf_counter() - began}\n")


def traced(fn):
    @wraps(fn)
    def wrapper(*args, **kwargs):
        stamp = time.time()  # breaks
        result = fn(*args, **kwargs)
        return result, stamp

    return wrapper


@traced
def inner(x):
    return x.cos()


@lru_cache
def table(n):
    print("building table")  # breaks
    return list(range(n))


@torch.compile(backend="eager")
def a(x):
    y, stamp = inner(x)
    r = random.random()  # breaks
    k = table(4)
    return y + r + len(k)


@torch.compile(backend="eager")
def b(x):
    with timed("b"):
        x = x @ x
    return x


@torch.compile(backend="eager")
def c(x):
    now = time.time()  # breaks
    folder = os.getcwd()  # breaks
    text = json.dumps({"shape": list(x.shape)})  # breaks
    gc.collect()  # breaks
    names = list(inspect.signature(inner).parameters)
    home = os.environ["HOME"]
    joined = os.path.join(folder, home)
    return x + len(text) + len(names) + len(joined), now


@torch.compile(backend="eager")
def d(x):
    sys.stdout.write("d\n")  # breaks
    torch.manual_seed(0)  # breaks
    noise = torch.randn_like(x)
    time.sleep(0)  # breaks
    return x + noise


if __name__ == "__main__":
    a(torch.ones(3))
    b(torch.ones(3, 3))
    c(torch.ones(3))
    d(torch.ones(3))
