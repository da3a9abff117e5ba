"""Variables of outer functions by their names, where a guard knows them by their numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from dynascope.facts.closures import variable_in_cell

SOURCE = """\
def make(strength, bias):
    def other(x):
        return x + bias
    def mix(x):
        y = x * strength
        return y + bias
    return mix, other, "\\d"

def outer(x):
    return x
"""


@pytest.mark.parametrize(
    "source, line, name",
    [
        ("mix.__closure__[1].cell_contents", 5, "strength"),
        ("mix.__closure__[0].cell_contents", 6, "bias"),
        ("fns[0].__closure__[0].cell_contents", 3, "bias"),
        ("mix.__closure__[0].cell_contents", 5, None),  # the line does not read it
        ("mix.__closure__[7].cell_contents", 5, None),
        ("mix.__closure__[0].cell_contents", 10, None),
        ("mix.scale", 5, None),
    ],
)
def test_a_variable_is_named_by_the_function_that_reads_it(
    tmp_path: Path, source: str, line: int, name: str | None
) -> None:
    (tmp_path / "mix.py").write_text(SOURCE)
    assert variable_in_cell(source, str(tmp_path / "mix.py"), line) == name
    assert variable_in_cell(source, str(tmp_path / "missing.py"), line) is None
