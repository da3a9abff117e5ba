"""Say what differs between two compiles: in sentences, and side by side with the first difference marked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import SequenceMatcher

from dynascope.explain.problem import where
from dynascope.facts.comparison.differences import Comparison, Difference, not_read
from dynascope.facts.comparison.recorded import Compared
from dynascope.facts.comparison.trail import Decision, TracedCompile, TracedLine, TracedPlace, TraceEnd
from dynascope.facts.recompiles.guarded_value import readable

_ENDS: dict[TraceEnd, str] = {
    "repeated": "is traced again from its start",
    "graph break": "breaks the graph",
    "failed": "fails with {}",
    "uncompiled": "runs uncompiled",
    "returned": "returns",
}
_THEN_SHOWN = 4
_NAMES_SHOWN = 8


def summary(compared: Compared) -> list[str]:
    """Return the guard that failed, the first difference with both states, and the others."""
    comparison = compared.comparison
    return [
        f"{comparison.left.name} and {comparison.right.name} of {compared.function}",
        *failed_guards(compared),
        *_differences(comparison),
    ]


def failed_guards(compared: Compared) -> list[str]:
    """Return a sentence for each guard that failed."""
    left, found = compared.comparison.left.name, []
    for each in compared.failed:
        met = f"; met {each.value}" if each.value else ""
        at = f" ({where(each.guard_path, each.guard_line)})" if each.guard_path and each.guard_line else ""
        found.append(f"The guard of {left} that failed: {readable(each.guard)}{met}{at}.")
    return found


def first_difference(comparison: Comparison) -> str:
    """Return the first difference in one sentence, or that there is none."""
    first = comparison.first
    if first is not None:
        return f"First difference, at {where(first.place.path, first.place.line)}: {sentence(comparison, first)}"
    left, right = comparison.left, comparison.right
    lines = f"{comparison.common} line{'' if comparison.common == 1 else 's'}"
    if not (left.is_finished and right.is_finished):
        unread = (_not_read(comparison, side) for side in (0, 1))
        return f"Nothing differs so far: Dynamo has begun the same {lines} in both.{''.join(unread)}"
    return f"Nothing else differs: both trace the same {lines}, with the same values and operations."


def _not_read(comparison: Comparison, side: int) -> str:
    names, compile = not_read(comparison, side), (comparison.left, comparison.right)[side]
    if not names:
        return ""
    more = " …" if len(names) > _NAMES_SHOWN else ""
    return f" It has not read {', '.join(names[:_NAMES_SHOWN])}{more} in {compile.name} yet."


def sentence(comparison: Comparison, difference: Difference) -> str:
    """Return one difference as a sentence about both compiles."""
    left, right = comparison.left.name, comparison.right.name
    ours, theirs, subject = difference.left, difference.right, readable(difference.subject)
    match difference.kind:
        case "value":
            return f"{subject} is {ours or 'not read'} in {left}, and {theirs or 'not read'} in {right}."
        case "symbol":
            return f"{subject} is {ours or 'not decided on'} in {left}, and {theirs or 'not decided on'} in {right}."
        case "operation":
            return f"{left} computes {ours or 'nothing here'}, and {right} {theirs or 'nothing here'}."
        case "guard":
            ours, theirs = (readable(each) if each else each for each in (ours, theirs))
            return f"The guard {subject} {_demands(ours)} in {left}, and {_demands(theirs)} in {right}."
        case "break":
            ways = [
                f"breaks the graph ({what})" if what else way
                for what, way in zip((ours, theirs), _ways(comparison, difference), strict=True)
            ]
            return f"{left} {ways[0]}, and {right} {ways[1]}."
        case "branch":
            ours, theirs = _ways(comparison, difference)
            why = " ".join(sentence(comparison, each) for each in difference.because)
            return f"{left} {ours} next, and {right} {theirs}.{' ' + why if why else ''}"


def _ways(comparison: Comparison, difference: Difference) -> list[str]:
    """Say where each compile goes on after the line of a difference."""
    return [
        _way(difference.left_next, comparison.left, difference.place),
        _way(difference.right_next, comparison.right, difference.place),
    ]


def _way(after: TracedPlace | None, compile: TracedCompile, line: TracedPlace) -> str:
    if after is None:
        return _ENDS[compile.end].format(compile.failure)
    if after.depth > line.depth:
        return f"calls {after.function}"
    return f"goes on at line {after.line}" + (f" of {after.function}" if after.depth < line.depth else "")


def places(comparison: Comparison) -> Iterator[tuple[TracedPlace, str]]:
    """Yield the line of the first difference, and those at which each compile goes on."""
    first = comparison.first
    if first is None:
        return
    yield first.place, f"first difference: {sentence(comparison, first)}"
    for compile, after in ((comparison.left, first.left_next), (comparison.right, first.right_next)):
        if after is not None:
            yield after, f"{compile.name} goes on here"


def state_before(comparison: Comparison, side: int) -> list[str]:
    """Return the values of the function's names at the first difference, in one compile."""
    first, compile = comparison.first, (comparison.left, comparison.right)[side]
    if first is None:
        return []
    known: dict[str, Decision] = {}
    for line in compile.lines[: first.row + 1]:
        for each in line.decisions:
            if each.kind == "value" and each.place.call == first.place.call:
                known[each.subject] = each
    return [f"{name} = {each.text}" for name, each in known.items()]


def _differences(comparison: Comparison) -> list[str]:
    rows = [first_difference(comparison)]
    for side, compile in enumerate((comparison.left, comparison.right)):
        state = ", ".join(state_before(comparison, side))
        if state:
            rows.append(f"There in {compile.name}: {state}.")
    for each in comparison.differences[1 : 1 + _THEN_SHOWN]:
        rows.append(f"Then, at {where(each.place.path, each.place.line)}: {sentence(comparison, each)}")
    return rows


def _demands(code: str | None) -> str:
    if code is None:
        return "does not exist"
    return f"demands {code}" if code else "demands no more"


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
