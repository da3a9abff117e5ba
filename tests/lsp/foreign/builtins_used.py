"""Builtins and reflection."""

import copy
import pickle
import sys
import threading
import uuid
from collections import OrderedDict, defaultdict

import torch


@torch.compile(backend="eager")
def a(x):
    names = [n for n in dir(torch.nn) if n == "Linear"]
    size = sys.getsizeof(x)  # breaks
    return x + len(names) + size


@torch.compile(backend="eager")
def b(x):
    y = copy.deepcopy(x)  # breaks
    z = copy.copy([x])  # breaks
    return y + z[0]


@torch.compile(backend="eager")
def c(x):
    groups = defaultdict(list)
    groups["a"].append(x)
    ordered = OrderedDict(a=x)
    values = vars(Config)
    here = hasattr(x, "shape") and callable(a) and issubclass(Config, object)
    return groups["a"][0] + ordered["a"] + len(values) * 0 + here


@torch.compile(backend="eager")
def d(x):
    name = threading.current_thread().name  # breaks
    key = uuid.uuid4().hex  # breaks
    data = pickle.dumps({"a": 1})  # breaks
    return x + len(name) * 0 + len(key) + len(data) * 0


@torch.compile(backend="eager")
def e(x):
    g = globals()  # breaks
    n = len(g) * 0 + id(x) * 0 + hash("a") * 0
    exec("pass")  # breaks
    return x + n


@torch.compile(backend="eager")
def f(x):
    with open(__file__) as file:  # breaks
        text = file.read()
    breakpoint()
    return x + len(text) * 0


class Config:
    width = 3


if __name__ == "__main__":
    for fn in (a, b, c, d, e, f):
        fn(torch.ones(3))
