"""Write two compiles side by side, with the first difference marked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import SequenceMatcher

from dynascope.facts.comparison.differences import Comparison
from dynascope.facts.comparison.trail import TracedLine

SourceLine = Callable[[str, int], str]
"""Returns a line of a file without its indentation; "" where there is none."""

_WIDTH = 72
_SHOWN_KINDS = ("value", "operation", "symbol", "break")
MARK = "▶"


def columns(comparison: Comparison, source_line: SourceLine, before: int = 400, after: int = 400) -> list[str]:
    """Return so many lines before and after the first difference, in two columns."""
    first = comparison.first
    row = first.row if first is not None else 0
    start = max(0, row - before)
    end = row + after
    left, right = comparison.left, comparison.right
    rows = [_row(" ", f"{left.name}", f"{right.name}"), _row(" ", "─" * _WIDTH, "─" * _WIDTH)]
    for ours, theirs in _aligned(comparison, start, end):
        mark = MARK if first is not None and ours is not None and ours is left.lines[first.row] else " "
        cells = [_cell(each, source_line) for each in (ours, theirs)]
        for number in range(max(map(len, cells))):
            texts = [cell[number] if number < len(cell) else "" for cell in cells]
            may_come = (left, texts[0]), (right, texts[1])  # the cell is empty where Dynamo is not so far yet
            same = texts[0] == texts[1] or any(not text and not side.is_finished for side, text in may_come)
            rows.append(_row(mark if number == 0 else " ", texts[0], texts[1], "│" if same else "┃"))
    return rows


def _aligned(comparison: Comparison, start: int, end: int) -> Iterator[tuple[TracedLine | None, TracedLine | None]]:
    """Yield the lines of both, those together that are the same line."""
    common = comparison.common
    ours, theirs = comparison.left.lines, comparison.right.lines
    for number in range(start, min(common, end)):
        yield ours[number], theirs[number]
    ours, theirs = ours[common:end], theirs[common:end]
    keys = [[(line.place.path, line.place.line, line.place.depth) for line in lines] for lines in (ours, theirs)]
    for _, i, to_i, j, to_j in SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_opcodes():
        for number in range(max(to_i - i, to_j - j)):
            yield (
                ours[i + number] if i + number < to_i else None,
                theirs[j + number] if j + number < to_j else None,
            )


def _cell(line: TracedLine | None, source_line: SourceLine) -> list[str]:
    if line is None:
        return []
    place = line.place
    indent = "  " * place.depth
    rows = [f"{place.line:5}  {indent}{source_line(place.path, place.line) or place.function}"]
    for each in line.decisions:
        if each.kind in _SHOWN_KINDS:
            what = (
                f"{each.subject} = {each.text}"
                if each.kind in ("value", "operation")
                else f"{each.subject} {each.text}"
            )
            rows.append(f"       {indent}· {what.strip()}")
    return rows


def _row(mark: str, left: str, right: str, between: str = "│") -> str:
    return f"{mark} {_cut(left)} {between} {_cut(right)}".rstrip()


def _cut(text: str) -> str:
    return text.ljust(_WIDTH) if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"
