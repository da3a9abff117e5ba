"""Compare compiles that were recorded: from their facts and trails to what differs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct, structs

from dynascope.facts import model
from dynascope.facts.comparison.differences import Comparison, compare
from dynascope.facts.comparison.trail import Decision, TracedCompile, TracedLine, TracedPlace, TraceEnd, Trail
from dynascope.facts.file_names import short_name
from dynascope.facts.reader import Reader
from dynascope.facts.recompiles.causes import reason, same_value

_NAME = re.compile(r"(?P<compile>.*?)(?:_(?P<attempt>\d+))?")
_ADDRESS = re.compile(r", \d+\)(?=, type=)")
_SHOWN = 12
_OTHER_FUNCTION = "{} is a compile of {}, {} one of {}: only compiles of one function can be compared."


class NotComparable(Exception):
    """Two compiles that cannot be compared. The text is for the user."""


class Compared(Struct, kw_only=True):
    """A comparison of two compiles of a function, and the guards whose failure caused the second."""

    function: str
    comparison: Comparison
    failed: list[model.Recompile]
    """The guards of the left compile that failed when the right one was compiled."""


def traced(name: str, trail: Trail, facts: model.CompileFacts | None) -> TracedCompile:
    """Return a compile to compare; `facts` is None for an attempt or a compile in progress."""
    lines = _lines(trail)
    if facts is None:
        return TracedCompile(
            name=name,
            lines=_as_called(lines),
            end="repeated" if trail.is_repeated else "in progress",
            has_guards=False,
            symbols=trail.symbols,
        )
    others = _add_guards(lines, trail, facts.guards)
    if lines:
        for graph_break in facts.graph_breaks:
            what = " ".join(filter(None, [graph_break.registry_id, graph_break.type]))
            begun = {(each.place.path, each.place.line): each.place for each in lines}
            place = begun.get((graph_break.path, graph_break.line))
            if place is None:  # in a function that Dynamo calls for this attempt, instead of tracing it
                place = lines[-1].place
                what += f" at {short_name(graph_break.path)}:{graph_break.line} in {graph_break.function}"
            lines[-1].decisions.append(Decision("break", "", what, place))
    return TracedCompile(
        name=name,
        lines=_as_called(lines),
        end=_end(facts),
        failure=(facts.compile.failure or "").partition("\n")[0],
        has_guards=facts.compile.status in ("compiled", "empty"),
        other_guards=others,
        symbols=trail.symbols,
    )


def compared(reader: Reader, left: model.Compile, right: model.Compile, names: Sequence[str] = ()) -> Compared:
    """Compare two compiles of one function.

    `names` is what the user calls them, with an attempt's number or without.
    """
    left_name, right_name = names or (left.compile_id, right.compile_id)
    if _function(left) != _function(right):
        raise NotComparable(_OTHER_FUNCTION.format(left_name, left.function, right_name, right.function))
    is_of_ranks = left.run != right.run
    sides = [_of_store(reader, each, name, is_of_ranks) for each, name in ((left, left_name), (right, right_name))]
    facts = reader.compile(right.id)
    failed = facts.recompiles if facts is not None else []
    return Compared(
        function=right.function,
        comparison=compare(*sides),
        failed=[each for each in failed if each.failed_compile_id == left.compile_id],
    )


def compared_so_far(
    reader: Reader,
    compiles: list[model.Compile],
    left: str,
    right: str,
    trail: Trail,
    failed: list[model.Recompile],
) -> Compared:
    """Compare a recorded compile with one that Dynamo is tracing."""
    earlier = _find(compiles, left, lambda each: each.compile_id)
    ours, theirs = _of_store(reader, earlier, left), traced(right, trail, None)
    if theirs.lines and ours.lines and not theirs.lines[0].place.is_like(ours.lines[0].place):
        raise NotComparable(_OTHER_FUNCTION.format(left, earlier.function, right, theirs.lines[0].place.function))
    return Compared(
        function=earlier.function,
        comparison=compare(ours, theirs),
        failed=[each for each in failed if each.failed_compile_id == earlier.compile_id],
    )


def newest_replacement(reader: Reader, compiles: list[model.Compile], name: str | None = None) -> Compared | None:
    """Compare the newest recompile, or the one of this name, with what it replaces."""
    for each in reversed(compiles):
        if name in (None, each.compile_id) and (found := compared_with_replaced(reader, each, compiles)) is not None:
            return found
    return None


def compared_with_replaced(reader: Reader, right: model.Compile, compiles: Iterable[model.Compile]) -> Compared | None:
    """Compare a compile with the one it replaces; None if there is none to compare."""
    facts = reader.compile(right.id)
    earlier = [each for each in compiles if each.run == right.run and each.id < right.id]
    left_id = replaced(reader, earlier, facts.recompiles) if facts is not None else None
    found = [each for each in earlier if each.compile_id == left_id]
    try:
        return compared(reader, found[-1], right) if found else None
    except NotComparable:
        return None


def find_pair(
    compiles: list[model.Compile],
    left: str,
    right: str,
    names: Callable[[model.Compile], str] = lambda each: each.compile_id,
) -> tuple[model.Compile, model.Compile]:
    """Return the newest two compiles with these ids, which may name an attempt: `0/1_2`.

    After `torch._dynamo.reset()` ids begin anew: the left one is of the same function as the right one, if it can be.
    """
    second = _find(compiles, right, names)
    same = [each for each in compiles if each.id <= second.id and _function(each) == _function(second)]
    try:
        return _find(same, left, names), second
    except NotComparable:
        return _find(compiles, left, names), second


def _find(compiles: list[model.Compile], name: str, names: Callable[[model.Compile], str]) -> model.Compile:
    found = [each for each in compiles if is_named(name, names(each))]
    if not found:
        raise NotComparable(no_compile(name, map(names, compiles)))
    return found[-1]


def no_compile(name: str, known: Iterable[str]) -> str:
    """Say that there is no compile of this name, and which there are."""
    newest = list(dict.fromkeys(known))[-_SHOWN:]
    if not newest:
        return f"No compile {name} is recorded."
    return f"No compile {name} is recorded. The newest {'is' if len(newest) == 1 else 'are'} {', '.join(newest)}."


def is_named(name: str, compile_id: str) -> bool:
    """Whether a name is this compile's, or that of an attempt of it."""
    wanted = _NAME.fullmatch(name)
    return wanted is not None and wanted["compile"] == compile_id


def replaced(reader: Reader, earlier: Iterable[model.Compile], recompiles: Iterable[model.Recompile]) -> str | None:
    """Return the newest compile that failed for a recompile's cause; None without one."""
    failed = [each for each in recompiles if each.failed_compile_id]
    if not failed:
        return None
    ids = {each.failed_compile_id for each in failed}
    facts = {each.compile_id: reader.compile(each.id) for each in earlier if each.compile_id in ids}
    cause = reason(failed, {name: each.recompiles for name, each in facts.items() if each is not None})
    return max((each.failed_compile_id for each in failed if same_value(each, cause)), key=_number)


def _number(compile_id: str) -> int:
    number = compile_id.rpartition("/")[2]
    return int(number) if number.isdecimal() else -1


def _function(compile: model.Compile) -> tuple[object, ...]:
    return compile.path, compile.function, compile.line, compile.resumes_at


def _of_store(reader: Reader, compile: model.Compile, name: str, without_addresses: bool = False) -> TracedCompile:
    trails = reader.trails(compile.id)
    if not trails:
        why = "Dynamo did not trace it, or it was imported from a log"
        raise NotComparable(f"The lines of {name} are not recorded: {why}.")
    wanted = _NAME.fullmatch(name)
    attempt = max(trails) if wanted is None or wanted["attempt"] is None else int(wanted["attempt"])
    if attempt not in trails:
        raise NotComparable(f"There is no attempt {name}: those of this compile are {min(trails)} to {max(trails)}.")
    facts = reader.compile(compile.id) if attempt == max(trails) else None
    if facts is not None and without_addresses:
        guards = [structs.replace(each, code=[*map(without_address, each.code)]) for each in facts.guards]
        facts = structs.replace(facts, guards=guards)
    return traced(name, trails[attempt], facts)


def without_address(code: str) -> str:
    """Return the code of a guard without the address of an object."""
    return _ADDRESS.sub(", 0)", code)


def _lines(trail: Trail) -> list[TracedLine]:
    depths: list[int] = []
    for _, _, caller in trail.calls:
        depths.append(depths[caller] + 1 if caller >= 0 else 0)
    lines = []
    for call, line in zip(trail.lines[::2], trail.lines[1::2], strict=True):
        path, function, _ = trail.calls[call]
        lines.append(TracedLine(TracedPlace(trail.texts[path], line, trail.texts[function], depths[call], call)))
    for after, own, kind, subject, text in trail.rows():
        if 0 <= after < len(lines):
            lines[after].decisions.append(Decision(kind, subject, text, lines[own].place))
    return lines


def _as_called(lines: list[TracedLine]) -> list[TracedLine]:
    """Return the lines without those of Dynamo's polyfills and of generated code.

    What was decided there, other than names, was decided at the line that led there.
    """
    kept: list[TracedLine] = []
    callers: dict[int, TracedPlace] = {}
    for line in lines:
        if not _is_hidden(line.place):
            kept.append(TracedLine(line.place))
        elif kept:
            callers.setdefault(line.place.call, kept[-1].place)
        for decision in line.decisions if kept else ():
            if not _is_hidden(decision.place):
                kept[-1].decisions.append(decision)
            elif decision.kind != "value":
                place = callers.get(decision.place.call, kept[-1].place)
                kept[-1].decisions.append(structs.replace(decision, place=place))
    return kept


def _is_hidden(place: TracedPlace) -> bool:
    return place.depth > 0 and ("/torch/_dynamo/polyfills/" in place.path or place.path == "<string>")


def _add_guards(lines: list[TracedLine], trail: Trail, guards: list[model.Guard]) -> dict[str, str]:
    """Add each guard where it appeared; return those that no line asked for, by kind."""
    appeared: dict[int, tuple[int, int]] = {}
    known = 0
    cells = trail.guards
    for after, own, count in zip(cells[::3], cells[1::3], cells[2::3], strict=True):
        appeared.update((number, (after, own)) for number in range(known, count))
        known = count
    others: dict[str, str] = {}
    first_visits = {(line.place.path, line.place.line): n for n, line in reversed(list(enumerate(lines)))}
    for number, guard in enumerate(guards):
        code, place = "\n".join(guard.code), (guard.path, guard.line)
        after, own = appeared.get(number, (-1, -1))
        if own < 0 or (lines[own].place.path, lines[own].place.line) != place:
            after = own = first_visits.get(place, -1)  # Dynamo has dropped a guard before this one
        if own < 0 or not guard.expression:
            others[f"{guard.kind} {guard.expression}".strip()] = code
        else:
            subject = f"{guard.kind} {guard.expression}"
            lines[after].decisions.append(Decision("guard", subject, code, lines[own].place))
    return others


def _end(facts: model.CompileFacts) -> TraceEnd:
    if facts.graph_breaks:
        return "graph break"
    if facts.compile.failure is not None:
        return "failed"
    return "uncompiled" if facts.compile.status == "skipped" else "returned"
