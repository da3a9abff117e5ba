"""Two compiles side by side: programs that are compiled again for different reasons, and what first differs then."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from dynascope.explain.comparison import first_difference, summary
from dynascope.facts.comparison.recorded import Compared, NotComparable, compared, compared_with_replaced, find_pair
from dynascope.facts.reader import Reader
from dynascope.facts.store import FILE_NAME

from tests.support.marks import PROGRAMS

pytestmark = pytest.mark.second_leg

ROOT = Path(__file__).parents[2]
PROGRAM = PROGRAMS / "recorded" / "recompiling.py"
SYMBOL = r"s\d+"
# Function: kind and subject of the first difference, what the first compile decided, what the second one did. All of it
# was written down before the comparison was; the line is the one that a comment of the program marks with the name.
EXPECTED = {
    "size": ("value", "x", r"f32\[4, 2\]", rf"f32\[{SYMBOL}, 2\]"),
    "integer": ("value", "n", "2", SYMBOL),
    "shape_branch": ("branch", "", "at line 23", "at line 22"),
    "flag": ("branch", "", "at line 30", "at line 29"),
    "length": ("value", "parts", "list of 2", "list of 3"),
    "kind": ("value", "x", r"f32\[4\]", r"f64\[4\]"),
    "breaking": ("break", "", None, r"GB\d+ .*builtin.*"),
    "optional": ("value", "mask", "None", r"f32\[4\]"),
    "keys": ("value", "table", r"\{'a': f32\[4\]\}", r"\{'a': f32\[4\], 'b': f32\[4\]\}"),
    "Scaled.forward": ("operation", "mul", r".*mul\(y, 2\)", r".*mul\(y, 3\)"),
    "turns": ("guard", r".*G\['TURNS'\]", r"G\['TURNS'\] == 2", r"G\['TURNS'\] == 3"),
    "ternary": (
        "symbol",
        SYMBOL,
        f"guarded by ({SYMBOL} <= 8|8 >= {SYMBOL})",
        f"guarded by ({SYMBOL} > 8|8 < {SYMBOL})",
    ),
    "inlined": ("value", "options", r"\{'up': False\}", r"\{'up': True\}"),
}
MARKS = {"Scaled.forward": "attribute", "inlined": "def inlined"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recompiling")
    run = subprocess.run(
        [sys.executable, "-m", "dynascope", "run", str(PROGRAM)],
        env={**os.environ, "DYNASCOPE_FACTS": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert run.returncode == 0 and "dynascope:" not in run.stderr, run.stderr
    return folder / FILE_NAME


def recompile_of(store: Path, function: str) -> Compared:
    with Reader.open(store) as reader:
        compiles = reader.compiles()
        again = [each for each in compiles if each.function == function and each.compile_id.endswith("/1")]
        found = compared_with_replaced(reader, again[0], compiles)
    assert found is not None
    return found


def marked(label: str) -> int:
    (line,) = [
        n for n, text in enumerate(PROGRAM.read_text().splitlines(), 1) if re.search(rf"# {label}$|^{label}\(", text)
    ]
    return line


@pytest.mark.second_leg_only
@pytest.mark.parametrize("function", EXPECTED)
def test_the_first_decision_that_differs(store: Path, function: str) -> None:
    kind, subject, left, right = EXPECTED[function]
    first = recompile_of(store, function).comparison.first
    assert first is not None
    assert (first.kind, first.place.path, first.place.line) == (
        kind,
        str(PROGRAM),
        marked(MARKS.get(function, function)),
    )
    assert re.fullmatch(subject, first.subject)
    ways = [f"at line {each.line}" for each in (first.left_next, first.right_next) if each is not None]
    for expected, found in zip((left, right), ways if kind == "branch" else (first.left, first.right), strict=True):
        assert (found is None) if expected is None else re.fullmatch(expected, found or ""), found


def test_both_ways_of_a_branch_are_lines_that_were_traced(store: Path) -> None:
    first = recompile_of(store, "shape_branch").comparison.first
    assert first is not None and first.left_next is not None and first.right_next is not None
    assert (first.left_next.line, first.right_next.line) == (23, 22)
    conditions = [(each.left, each.right) for each in first.because if each.kind == "symbol"]
    assert conditions, "the condition on the size is what the branch depends on"


def test_where_nothing_else_differs_that_is_said(store: Path) -> None:
    found = recompile_of(store, "gradients")
    assert found.comparison.differences == []
    text = first_difference(found.comparison)
    assert text == ("Nothing else differs: both trace the same 3 lines, with the same values and operations.")
    assert any("GLOBAL_STATE changed: grad_mode" in row for row in summary(found))


def test_equal_compiles_have_no_difference(store: Path) -> None:
    with Reader.open(store) as reader:
        for each in reader.compiles():
            if each.status == "compiled":
                assert compared(reader, each, each).comparison.first is None


def test_attempts_of_one_compile(store: Path) -> None:
    with Reader.open(store) as reader:
        compiles = reader.compiles()
        (name,) = [each.compile_id for each in compiles if each.function == "breaking" and each.attempts == 2]
        pair = find_pair(compiles, f"{name}_0", f"{name}_1")
        first = compared(reader, *pair, names=(f"{name}_0", f"{name}_1")).comparison.first
        assert first is not None
        assert (first.kind, first.place.line) == ("break", marked("breaking"))
        with pytest.raises(NotComparable, match=f"no attempt {name}_7: those of this compile are 0 to 1"):
            compared(reader, *pair, names=(f"{name}_0", f"{name}_7"))


def test_compiles_of_different_functions_are_refused(store: Path) -> None:
    with Reader.open(store) as reader:
        compiles = reader.compiles()
        with pytest.raises(NotComparable, match="0/0 is a compile of size, 1/0 one of integer"):
            compared(reader, *find_pair(compiles, "0/0", "1/0"))
        with pytest.raises(NotComparable, match="No compile 99/0 is recorded"):
            find_pair(compiles, "0/0", "99/0")
