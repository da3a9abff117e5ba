"""The report: breaks first, then recompiles, then the slowest lines. What repeats over compiles is one row."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from msgspec import Struct

from dynascope.facts import model
from dynascope.facts.break_message import without_numbers
from dynascope.facts.reader import Reader

SLOWEST_LINES = 15
F = TypeVar("F", bound=model.Fact)


class Repeated(Struct):
    """Facts that say the same of the same line, and the compiles (as Dynamo numbers them) that they come from."""

    compiles: list[str]
    count: int


class Break(Repeated):
    fact: model.GraphBreak


class Recompiled(Repeated):
    fact: model.Recompile
    resumes_at: int | None
    """The line behind which it goes on, where it is what follows a graph break that was compiled again."""


class Specialized(Repeated):
    fact: model.Specialization


class SlowLine(Struct):
    """Time Dynamo spent on a line in all compiles, what it calls excluded."""

    path: str
    line: int
    seconds: float
    visits: int


class Summary(Struct):
    """All that a report shows of one launch."""

    launch: str
    runs: list[model.Run]
    compiles: list[model.Compile]
    breaks: list[Break]
    recompiles: list[Recompiled]
    specializations: list[Specialized]
    backend_failures: list[model.BackendFailure]
    slowest_lines: list[SlowLine]

    @property
    def skipped(self) -> list[model.Compile]:
        return [each for each in self.compiles if each.status == "skipped"]

    @property
    def failed(self) -> list[model.Compile]:
        return [each for each in self.compiles if each.status == "failed"]

    @property
    def seconds(self) -> float:
        return sum(each.seconds for each in self.compiles)

    @property
    def backend_seconds(self) -> float:
        return sum(each.backend_seconds for each in self.compiles)

    @property
    def graphs(self) -> int:
        return sum(each.graphs for each in self.compiles)


def summarize(reader: Reader, launch: str) -> Summary:
    """Read everything a report needs of a launch."""
    compiles = reader.compiles(launch)
    names = {each.id: each.compile_id for each in compiles}
    breaks = _grouped(
        reader.facts("graph_breaks", launch),
        lambda fact: (fact.path, fact.line, fact.type, fact.effect, without_numbers(fact.explanation)),
    )
    resumes = {each.id: each.resumes_at for each in compiles}
    recompiles = _grouped(
        reader.facts("recompiles", launch),
        lambda fact: (fact.path, fact.line, resumes[fact.compile], fact.guard, fact.limit_reached),
    )
    specializations = _grouped(
        reader.facts("specializations", launch), lambda fact: (fact.path, fact.line, tuple(fact.origins), fact.value)
    )
    return Summary(
        launch=launch,
        runs=[run for run in reader.runs() if run.launch == launch],
        compiles=compiles,
        breaks=[Break(_ids(group, names), sum(each.count for each in group), group[0]) for group in breaks],
        recompiles=[
            Recompiled(_ids(group, names), len(group), group[0], resumes[group[0].compile]) for group in recompiles
        ],
        specializations=[Specialized(_ids(group, names), len(group), group[0]) for group in specializations],
        backend_failures=reader.facts("backend_failures", launch),
        slowest_lines=_slowest(reader.facts("line_times", launch)),
    )


def _grouped(facts: Iterable[F], key: Callable[[F], Hashable]) -> list[list[F]]:
    """Groups of equal facts, those with most members first."""
    groups: dict[Hashable, list[F]] = {}
    for fact in facts:
        groups.setdefault(key(fact), []).append(fact)
    return sorted(groups.values(), key=len, reverse=True)


def _ids(facts: Iterable[model.Fact], names: dict[int, str]) -> list[str]:
    return list(dict.fromkeys(names[fact.compile] for fact in facts))


def _slowest(times: Iterable[model.LineTime]) -> list[SlowLine]:
    lines: dict[tuple[str, int], SlowLine] = {}
    for time in times:
        known = lines.setdefault((time.path, time.line), SlowLine(time.path, time.line, 0.0, 0))
        known.seconds += time.seconds
        known.visits += time.visits
    return sorted(lines.values(), key=lambda each: each.seconds, reverse=True)[:SLOWEST_LINES]
