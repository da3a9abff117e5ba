"""Sizes and numbers are computed in texts of values whose symbols are known."""

from __future__ import annotations

import pytest
from dynascope.facts.comparison.computed_sizes import computed


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("f32[(16//2), 4]", "f32[8, 4]"),
        ("[CeilToInt(FloatTrueDiv(1.0*ToFloat(8), 4.0)), 2]", "[2, 2]"),
        ("Max(1, 2*3) + PythonMod(7, 4)", "9"),
        ("CeilToInt(FloatTrueDiv(1.0*ToFloat(s52), 4.0))", "CeilToInt(FloatTrueDiv(1.0*ToFloat(s52), 4.0))"),
        ("f32[s1//2, 3]", "f32[s1//2, 3]"),
        ("4//0", "4//0"),
        ("a Linear (on cpu)", "a Linear (on cpu)"),
        ("'a-b'", "'a-b'"),
        ("-3", "-3"),
    ],
)
def test_what_is_known_is_computed(text: str, told: str) -> None:
    assert computed(text) == told
