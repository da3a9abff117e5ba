"""Log messages taken apart as f-strings are."""

from __future__ import annotations

import pytest
from dynascope.wire.breakpoint_texts import Expression, logged_by_debugpy, pieces


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("i={i}", ["i=", Expression("i")]),
        ("{{x}} }{", ["{x} }{"]),
        ("{i:03d}|{i:>{width}}", [Expression("i", "", "03d"), "|", Expression("i", "", ">{width}")]),
        ("{x.shape[0]!r}, {x!s:>8}", [Expression("x.shape[0]", "r"), ", ", Expression("x", "s", ">8")]),
        ("{ {1:2}[1] } {s['a}b':]}", [Expression(" {1:2}[1] "), " ", Expression("s['a}b':]")]),
        ("{a != b} {(lambda: 1)()}", [Expression("a != b"), " ", Expression("(lambda: 1)()")]),
        ("{n:'>4} y={", [Expression("n", "", "'>4"), " y={"]),
        ("{i!r", ["{i!r"]),
        ("{}", [Expression("")]),
    ],
)
def test_pieces(template: str, expected: list[str | Expression]) -> None:
    found: list[str | Expression] = []
    for piece in pieces(template):
        if isinstance(piece, str) and found and not isinstance(found[-1], Expression):
            found[-1] += piece  # type: ignore[operator]
        else:
            found.append(piece)
    assert found == expected


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("i={i} {{x}}", "i={i} {{x}}"),
        ("{i:03d} {x!r} {{}} {y!s:>4}", "{format(i, '03d')} {repr(x)} {{}} {format(str(y), '>4')}"),
    ],
)
def test_debugpy_gets_calls(template: str, expected: str) -> None:
    assert logged_by_debugpy(template) == expected
