"""Say what is new in a launch, and what is gone, against the one before of the same program."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable
from typing import TypeVar

import msgspec
from dynascope.facts import model
from dynascope.facts.counts import counted
from dynascope.facts.current_compiles import program_of
from dynascope.facts.launches import Launch, launches
from dynascope.facts.reader import Reader
from dynascope.facts.recompiles.causes import Cause, causes
from dynascope.report.breaks import Break, breaks_at_places
from msgspec import Struct

from dynascope_lsp.explorer.launch_rows import when
from dynascope_lsp.explorer.rows import Row, break_row, cause_row
from dynascope_lsp.recorded.compiles import seconds

F = TypeVar("F", Break, Cause)


class RunOfProgram(Struct):
    """Another launch of a program, with whose graphs a graph can be compared."""

    key: str
    name: str
    """Its program and when it was."""


def run_before(reader: Reader, name: str) -> tuple[Launch, Launch] | None:
    """Return a launch and the one before of its program that compiled something."""
    own, before, _ = _of_program(reader, name)
    return (own, before[0]) if own is not None and before else None


def runs_of_program(reader: Reader, folder: str, name: str) -> tuple[str, list[RunOfProgram]]:
    """Return the name of a launch, and the others of its program.

    Those before it come first, the newest of them at the top; then those after it.
    """
    own, before, after = _of_program(reader, name)
    others = [
        RunOfProgram(msgspec.json.encode((folder, each.name)).decode(), _named(each)) for each in (*before, *after)
    ]
    return (_named(own), others) if own is not None else ("", [])


def _of_program(reader: Reader, name: str) -> tuple[Launch | None, list[Launch], list[Launch]]:
    """Return a launch, and those of its program that compiled something.

    Those before it, and those after it; the newest first.
    """
    found = launches(reader)
    place = next((place for place, each in enumerate(found) if each.name == name), None)
    if place is None:
        return None, [], []
    own = found[place]
    same = [each.compiling and program_of(each.first) == program_of(own.first) for each in found]
    before = [each for each, is_same in zip(found[place + 1 :], same[place + 1 :], strict=True) if is_same]
    after = [each for each, is_same in zip(found[:place], same[:place], strict=True) if is_same]
    return own, before, after


def _named(launch: Launch) -> str:
    began = launch.first.began
    return (
        f"{launch.first.program}, {when(began)}{time.strftime(':%S', time.localtime(began))}"  # two in a minute differ
    )


def rows_against(reader: Reader, now: Launch, before: Launch) -> list[Row]:
    """Return the sums of both launches, then the breaks and causes that only one of them has.

    They are told apart by their functions and kinds: lines may have moved between the two.
    """
    sums = [
        (counted(now.compiles, "compile"), str(before.compiles)),
        (seconds(now.seconds), seconds(before.seconds)),
    ]
    rows = [
        Row(key=f"sum:{place}", label=ours, description=f"before: {theirs}", icon="graph")
        for place, (ours, theirs) in enumerate(sums)
    ]
    breaks = (_breaks(reader, now.name), _breaks(reader, before.name))
    found = (_causes(reader, now.name), _causes(reader, before.name))
    rows += _differing(*breaks, _break_key, break_row)
    return rows + _differing(*found, _cause_key, lambda each: cause_row(each, {}))


def _differing(now: list[F], before: list[F], key: Callable[[F], Hashable], row: Callable[[F], Row]) -> list[Row]:
    """Return what only one of the two has, the new ones first."""
    found = []
    for ours, theirs, word, icon in ((now, before, "New", "diff-added"), (before, now, "Gone", "diff-removed")):
        counts = Counter(map(key, theirs))
        for each in ours:
            if counts[key(each)] > 0:
                counts[key(each)] -= 1
                continue
            told = row(each)
            told.key, told.label, told.icon = f"{word}:{told.key}", f"{word}: {told.label}", icon
            told.severity = "success" if word == "Gone" else "warning"
            told.children = [each for each in told.children if not each.is_lazy]
            found.append(told)
    return found


def _breaks(reader: Reader, launch: str) -> list[Break]:
    compiles = reader.compiles(launch)
    names: dict[int, str] = {each.id: "" for each in compiles}
    return breaks_at_places(reader.facts("graph_breaks", launch), names, compiles)


def _causes(reader: Reader, launch: str) -> list[Cause]:
    compiles = {each.id: each for each in reader.compiles(launch)}
    found = causes(reader.facts("recompiles", launch), compiles, reader.compile)
    return [each for each in found if not each.is_aside]


def _break_key(each: Break) -> Hashable:
    fact: model.GraphBreak = each.fact
    return fact.path, fact.function, fact.type, fact.effect


def _cause_key(each: Cause) -> Hashable:
    return each.first.path, each.first.function, each.resumes_at is None, each.about
