"""What decides in an expression whether a rank makes a call: operands before it, and comprehensions."""

from __future__ import annotations

from pathlib import Path

import pytest
from dynascope.facts.comparison.plain_expressions import comprehensions_left, elements_left_out, operands_before
from dynascope.facts.user_stack import UserFrame

SOURCE = """\
def check(name, w):
    bad = moved(name) > 1 or gap(w) > 1
    good = w.is_set and w.fits(2) and gap(w) < 1
    total = gap(w) if w.is_set else 0
    other = 0 if w.is_set else gap(w)
    names = [each for each in find(w) if keep(each)]
    return bad
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "check.py").write_text(SOURCE)
    return str(tmp_path / "check.py")


@pytest.mark.parametrize(
    "line, called, found",
    [
        (2, "gap", [("moved(name) > 1", (False, True))]),
        (2, "moved", []),
        (2, "", [("moved(name) > 1", (False, True))]),
        (3, "gap", [("w.is_set", (True, False)), ("w.fits(2)", (True, False))]),
        (3, "fits", [("w.is_set", (True, False))]),
        (4, "gap", [("w.is_set", (True, False))]),
        (5, "gap", [("w.is_set", (False, True))]),
        (6, "find", []),
    ],
)
def test_operands_before_a_call_are_told_with_their_truth(
    path: str, line: int, called: str, found: list[tuple[str, tuple[bool, bool]]]
) -> None:
    branches = [*operands_before(UserFrame(path, line, "check"), called, 0)]
    assert [(each.text, each.is_true) for each in branches] == found
    assert all(each.side == 0 and each.line == line for each in branches)


def test_a_comprehension_is_told_as_a_loop_and_by_its_condition(path: str) -> None:
    frame = UserFrame(path, 6, "check")
    (loop,) = comprehensions_left(frame, 1)
    assert (loop.text, loop.elements, loop.is_true) == ("for each in find(w)", "find(w)", (False, True))
    (condition,) = elements_left_out(frame)
    assert (condition.text, condition.kind) == ("not keep(each)", "skips")
    assert [*comprehensions_left(UserFrame(path, 2, "check"), 1)] == []
