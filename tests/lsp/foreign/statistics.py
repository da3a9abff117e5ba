"""Values read into Python for logging, formatting and decisions."""

import math

import torch


def describe(name, t):
    return f"{name}: {t.mean():.3f}"


@torch.compile(backend="eager")
def a(x):
    line = describe("x", x)
    return x + len(line)  # breaks


@torch.compile(backend="eager")
def b(x):
    s = str(x)  # breaks
    r = repr(x.shape)
    n = int(x.shape[0]) + int(3.5)
    return x * n, s, r


@torch.compile(backend="eager")
def c(x):
    k = int(x.max())  # breaks
    parts = [x + i for i in range(k)]
    return torch.stack(parts) * math.exp(x.mean())  # breaks


@torch.compile(backend="eager")
def d(x, y):
    same = torch.equal(x, y)  # breaks
    close = torch.allclose(x, y)  # breaks
    if same or close:
        return x
    return y


@torch.compile(backend="eager")
def e(x):
    flag = bool((x > 0).any())  # breaks
    best = max(x.sum(), x.mean())
    ok = all(t > 0 for t in x)  # breaks
    values = sorted(x.tolist())
    return x + flag + best, ok, values


if __name__ == "__main__":
    for f in (a, b, c, e):
        f(torch.ones(3))
    d(torch.ones(3), torch.ones(3))
