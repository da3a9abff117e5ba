"""Lines keep their hash where only white space or a comment changes, so that facts stay with them."""

from __future__ import annotations

import pytest
from dynascope.facts.alignment import Alignment
from dynascope.facts.model import hash_lines


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = x.item()", "y = x.item()  # a number"),
        ("y = x.item()  # a number", "y = x.item()\t# one"),
        ("y=f(x,1)", "    y = f(x, 1)"),
        ('print("loss")', 'print("loss")  # told'),
        ("", "# a comment alone"),
    ],
)
def test_layout_and_comments_do_not_count(before: str, after: str) -> None:
    assert hash_lines(before) == hash_lines(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = x + 1", "y = x + 2"),
        ('y = "a # b"', 'y = "a # c"'),
        ('y = "a b"', 'y = "ab"'),
        ("y = x", "# y = x"),
        ("s = '#", "s = '"),
    ],
)
def test_all_else_counts(before: str, after: str) -> None:
    assert hash_lines(before) != hash_lines(after)


def test_facts_move_with_a_line_that_gets_a_comment() -> None:
    before = "def f(x):\n    y = x * 2\n    return y.item()\n"
    after = "import os\n\ndef f(x):\n    y = x*2  # twice\n    return y.item()   # breaks\n"
    alignment = Alignment(hash_lines(before), hash_lines(after))
    assert [alignment.now(line) for line in (1, 2, 3)] == [3, 4, 5]
