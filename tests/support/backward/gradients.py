"""The gradients of a program of tests/support/backward/programs.py, and how they are compared."""

from __future__ import annotations

import torch

from tests.support.backward.programs import Program


def gradients(build: Program) -> list[torch.Tensor | None]:
    torch.manual_seed(0)
    loss, leaves = build()
    loss.backward()
    return [leaf.grad for leaf in leaves]


def same(left: list[torch.Tensor | None], right: list[torch.Tensor | None]) -> bool:
    def equal(a: torch.Tensor | None, b: torch.Tensor | None) -> bool:
        if a is None or b is None:
            return a is b
        return torch.allclose(a.to_dense(), b.to_dense()) if a.is_sparse else torch.allclose(a, b)

    return len(left) == len(right) and all(map(equal, left, right))
