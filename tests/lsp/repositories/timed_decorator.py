import functools
import time
from collections import defaultdict

import torch

TIMES = defaultdict(list)


def timed(name=None):
    def deco(fn):
        key = name or fn.__name__

        @functools.wraps(fn)
        def wrapper(*args, **kwargs):
            start = time.time()  # breaks
            out = fn(*args, **kwargs)
            TIMES[key].append(time.time() - start)  # breaks
            return out

        return wrapper

    return deco


def log_call(fn):
    @functools.wraps(fn)
    def wrapper(*a, **k):
        print(f"calling {fn.__name__} with {len(a)} args")  # breaks
        return fn(*a, **k)

    return wrapper


@timed()
def project(x, w):
    return x @ w


@log_call
def nonlin(x):
    return torch.tanh(x) * 1.1


def residual(fn):
    @functools.wraps(fn)
    def wrapper(x, *args):
        return x + fn(x, *args)

    return wrapper


@residual
def mix(x, w):
    return nonlin(project(x, w))


@timed("outer")
@torch.compile(backend="eager")
def network(x, ws):
    for w in ws:
        x = mix(x, w)
    return x.sum()


@torch.compile(backend="eager")
@residual
def plain(x, s):
    return x * s


if __name__ == "__main__":
    ws = [torch.randn(4, 4) for _ in range(2)]
    print(network(torch.randn(2, 4), ws))
    print(plain(torch.ones(2), 3.0))
    print({k: len(v) for k, v in TIMES.items()})
