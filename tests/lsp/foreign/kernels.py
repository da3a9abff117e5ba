"""Numeric helpers as in scientific code; annotated, and with defaults."""

import math
from typing import Union

import torch
from torch import Tensor

Number = Union[int, float]


def as_tensor(value: Union[Tensor, Number]) -> Tensor:
    if not isinstance(value, Tensor):
        value = torch.tensor(value)
    return value


def rbf(x: Tensor, y: Tensor, scale: Union[Tensor, Number] = 1.0) -> Tensor:
    scale = as_tensor(scale)
    distance = torch.cdist(x, y)
    if scale <= 0:  # breaks
        raise ValueError("scale must be positive")
    return torch.exp(-(distance**2) / (2 * scale**2))


def cholesky(k: Tensor, jitter: float = 1e-6) -> Tensor:
    for attempt in range(3):
        factor, info = torch.linalg.cholesky_ex(k + jitter * torch.eye(k.shape[0]))
        if not info.any():  # breaks
            return factor
        jitter *= 10
    raise RuntimeError("not positive definite")


@torch.compile(backend="eager")
def posterior(x: Tensor, y: Tensor, noise: float = 0.1):
    k = rbf(x, x) + noise * torch.eye(len(x))
    factor = cholesky(k)
    alpha = torch.cholesky_solve(y[:, None], factor)
    likelihood = -0.5 * (y @ alpha).sum() - factor.diagonal().log().sum() - len(x) / 2 * math.log(2 * math.pi)
    return likelihood.item()  # breaks


@torch.compile(backend="eager")
def integrate(f, a: float, b: float, n: int = 4):
    xs = torch.linspace(a, b, n)
    ys = f(xs)
    area = torch.trapezoid(ys, xs)
    return float(area)  # breaks


if __name__ == "__main__":
    posterior(torch.randn(3, 2), torch.randn(3))
    integrate(torch.sin, 0.0, 1.0)
