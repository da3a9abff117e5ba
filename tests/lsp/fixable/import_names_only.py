"""A module with a docstring."""

from __future__ import annotations

from torch import compile, ones


@compile(backend="eager")
def f(x):
    return x * x.sum().item()


print(f(ones(2)))
