"""Conditions, and how many elements loops go through, follow from the texts of the values that they read."""

from __future__ import annotations

import ast

import pytest
from dynascope.facts.comparison.plain_evaluation import UNKNOWN, evaluated, length_of

VALUES = {
    "rank": "1",
    "step": "7",
    "self.every": "4",
    "batches": "of length 5",
    "loader": "a DataLoader of 3 batches",
    "names": "of length 0",
    "model": "a Linear",
    "rate": "0.5",
}


def node(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("step % self.every == 3", True),
        ("(step + 1) // self.every >= 3", False),
        ("min(step, 5) * rate", 2.5),
        ("not names and model is not None", True),
        ("unknown or batches", True),
        ("unknown and batches", UNKNOWN),
        ("step % unknown == 0", UNKNOWN),
        ("'a' * step", UNKNOWN),  # of numbers only: a text could become as long as it likes
        ("len(batches) - 1", 4),
    ],
)
def test_an_expression_is_evaluated(text: str, value: object) -> None:
    assert evaluated(node(text), VALUES) == value


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("batches", 5),
        ("loader", 3),
        ("range(step - rank)", 6),
        ("range(0, step, 2)", 4),
        ("range(unknown)", None),
        ("enumerate(loader, 1)", 3),
        ("zip(batches, loader)", 3),
        ("zip(batches, unknown)", None),
        ("[each * 2 for each in batches]", 5),
        ("[each for each in batches if each]", None),
        ("batches[rank::2]", 2),
        ("batches[:-1]", 4),
        ("batches[unknown:]", None),
        ("settings.items()", None),
        ("model", None),
    ],
)
def test_elements_are_counted(text: str, length: int | None) -> None:
    assert length_of(node(text), VALUES) == length
