"""Texts of sympy's expressions."""

from __future__ import annotations

import pytest
import sympy
from dynascope.agent.internals.symbolic_shapes.fake_tensors import expression_text

SIZE = sympy.Symbol("s77", integer=True)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (sympy.Float(0.4), "0.4"),
        (sympy.Float(0.1) + 0.2, "0.3"),
        (sympy.Float(2), "2.0"),
        (0.4 * SIZE + 1, "0.4*s77 + 1"),
        (2 * SIZE, "2*s77"),
    ],
)
def test_floats_are_as_short_as_in_python(expression: sympy.Expr, text: str) -> None:
    assert expression_text(expression) == text
