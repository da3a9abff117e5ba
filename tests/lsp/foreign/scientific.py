"""A numerical method: iterate until it converges."""

import numpy as np
import torch


@torch.compile(backend="eager")
def newton(x):
    for _ in range(20):
        delta = (x * x - 2) / (2 * x)
        x = x - delta
        if delta.abs().max() < 1e-6:  # breaks
            break
    return x


@torch.compile(backend="eager")
def mixed(x):
    a = np.linspace(0, 1, 4)
    b = torch.from_numpy(a)
    c = x.numpy()
    if np.any(c > 0):  # breaks
        b = b + 1
    return b + float(a[0])  # breaks


@torch.compile(backend="eager")
def conjugate(a, b):
    x = torch.zeros_like(b)
    r = b - a @ x
    p = r
    rs = r @ r
    while rs.sqrt() > 1e-3:  # breaks
        ap = a @ p
        alpha = rs / (p @ ap)
        x = x + alpha * p
        r = r - alpha * ap
        new = r @ r
        p = r + (new / rs) * p
        rs = new
    return x


if __name__ == "__main__":
    newton(torch.ones(3))
    mixed(torch.ones(4))
    conjugate(torch.eye(3), torch.ones(3))
