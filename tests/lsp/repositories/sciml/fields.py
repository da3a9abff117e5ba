from __future__ import annotations
from dataclasses import dataclass
from typing import Sequence
import torch
import torch.nn as nn


@dataclass(frozen=True)
class Grid:
    n: int
    length: float = 1.0

    @property
    def dx(self) -> float:
        return self.length / self.n


def laplacian(u: torch.Tensor, dx: float) -> torch.Tensor:
    out = -4 * u
    for dim in (-1, -2):
        for s in (1, -1):
            out = out + torch.roll(u, s, dims=dim)
    return out / dx ** 2


class Term(nn.Module):
    def rhs(self, u: torch.Tensor, grid: Grid) -> torch.Tensor:
        raise NotImplementedError(type(self).__name__)

    def __add__(self, other: "Term") -> "Sum":
        return Sum([self, other])


class Sum(Term):
    def __init__(self, terms: Sequence[Term]):
        super().__init__()
        flat: list[Term] = []
        for t in terms:
            flat.extend(t.terms if isinstance(t, Sum) else [t])
        self.terms = nn.ModuleList(flat)

    def rhs(self, u, grid):
        return sum(t.rhs(u, grid) for t in self.terms)


class Diffusion(Term):
    def __init__(self, kappa: float):
        super().__init__()
        self.log_k = nn.Parameter(torch.tensor(kappa).log())

    def rhs(self, u, grid):
        return self.log_k.exp() * laplacian(u, grid.dx)


class Reaction(Term):
    def rhs(self, u, grid):
        return u * (1 - u)


class Closure(Term):
    def __init__(self, width: int = 4):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, width, 3, padding=1, padding_mode="circular"), nn.GELU(), nn.Conv2d(width, 1, 1))

    def rhs(self, u, grid):
        if u.dim() == 3:
            return self.net(u[:, None])[:, 0]
        return self.net(u)
