"""Summarise a launch: breaks, recompiles, the slowest lines. Equal facts of several compiles are one row."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from msgspec import Struct

from dynascope.facts import model
from dynascope.facts.comparison.recorded import Compared, compared_with_replaced
from dynascope.facts.counts import counted
from dynascope.facts.endings import ending
from dynascope.facts.process_names import compile_names, process_name
from dynascope.facts.reader import Reader
from dynascope.facts.recompiles.causes import Cause, causes
from dynascope.facts.recompiles.story import Stories, stories_by_compile
from dynascope.facts.recompiles.varying import not_yet_met
from dynascope.report.breaks import Break, Repeated, breaks_at_places, grouped, names_of
from dynascope.report.sources import shown_path

SLOWEST_LINES = 15
_COMPARED = 64
"""The number of recompiles that are compared with what they replace."""


class Specialized(Repeated):
    fact: model.Specialization


class Varying(Repeated):
    fact: model.VaryingGuard


class BackendFailed(Repeated):
    fact: model.BackendFailure


class Failed(Struct):
    """A function that failed to compile for one reason."""

    compiles: list[str]
    fact: model.Compile
    """The first of them."""


class Uncompiled(Struct):
    """A function, or what follows a line of it, that runs uncompiled for one reason."""

    compiles: list[str]
    fact: model.Compile
    """The first of them."""

    @property
    def line(self) -> int:
        return self.fact.resumes_at or self.fact.line

    @property
    def reason(self) -> str:
        """Return the first line of the reason."""
        return (self.fact.skip_reason or "").strip().partition("\n")[0]


class SlowLine(Struct):
    """Dynamo's time for a line in all compiles, without its calls."""

    path: str
    line: int
    seconds: float
    visits: int


class Summary(Struct):
    """All that a report shows of one launch."""

    launch: str
    runs: list[model.Run]
    compiles: list[model.Compile]
    names: dict[int, str]
    """The names of compiles by number: see `process_names`."""
    breaks: list[Break]
    causes: list[Cause]
    """The causes of recompiles."""
    stories: dict[int, list[str]]
    """Sentences on recompiles and refused calls, by number: the call, what differs in it, what runs at the limit."""
    comparisons: dict[int, Compared]
    """What differs from the compile that each recompile replaces, by the recompile's number."""
    specializations: list[Specialized]
    varying: list[Varying]
    """Guarded values that will change, and for which nothing was compiled again yet."""
    backend_failures: list[BackendFailed]
    explained: set[int]
    """Numbers of compiles that failed because of a graph break or their backend."""
    slowest_lines: list[SlowLine]

    @property
    def first_run(self) -> model.Run:
        """Return the first process: it started the others, and has the user's command line."""
        return min(self.runs, key=lambda run: run.began)

    @property
    def ending(self) -> str:
        """Return a sentence on processes of which only a part is recorded; "" where there are none."""
        return ending(self.runs, {each.run for each in self.compiles})

    @property
    def processes(self) -> str:
        """Return `2 processes: rank 0, rank 1` for those that have compiles; "" for a single one."""
        compiled = {each.run for each in self.compiles}
        names = [process_name(run) for run in self.runs if run.id in compiled]
        return f"{len(names)} processes: {', '.join(sorted(names))}" if len(names) > 1 else ""

    @property
    def compiled(self) -> list[model.Compile]:
        """Return the compiles that were not skipped, with or without a graph."""
        return [each for each in self.compiles if each.status in model.COMPILES]

    @property
    def uncompiled(self) -> list[Uncompiled]:
        """Return a row for each place and reason, in the order of their first compiles."""
        found: dict[Hashable, Uncompiled] = {}
        for each in self.compiles:
            if each.status == "skipped":
                one = Uncompiled([], each)
                found.setdefault((each.path, one.line, each.function, one.reason), one).compiles.append(
                    self.names[each.id]
                )
        return list(found.values())

    @property
    def failed(self) -> list[model.Compile]:
        return [each for each in self.compiles if each.status == "failed"]

    @property
    def failures(self) -> list[Failed]:
        """Return a row for each failure that is not by a graph break or a backend."""
        found: dict[Hashable, Failed] = {}
        for each in self.failed:
            if each.id not in self.explained:
                key = each.path, each.line, each.resumes_at, each.function, each.failure
                found.setdefault(key, Failed([], each)).compiles.append(self.names[each.id])
        return list(found.values())

    @property
    def recompiles(self) -> int:
        """Return the number of recompiles; one with several causes counts once."""
        return len({number for cause in self.causes for number in cause.compiles})

    @property
    def seconds(self) -> float:
        return sum(each.seconds for each in self.compiles)

    @property
    def backend_seconds(self) -> float:
        return sum(each.backend_seconds for each in self.compiles)

    @property
    def _waits(self) -> str:
        waits = [each.rank_wait_seconds for each in self.compiles if each.rank_wait_seconds >= model.SHORTEST_WAIT]
        return f", {sum(waits):.2f} s waiting for other ranks" if waits else ""

    @property
    def graphs(self) -> int:
        return sum(each.graphs for each in self.compiles)

    @property
    def counts(self) -> str:
        """Return `3 compiles, 2 graphs, 1 graph break at 1 place, 1 recompile, 1 cause, …`."""
        breaks = sum(each.count for each in self.breaks)
        causing = sum(not each.is_aside for each in self.causes)
        parts = [
            counted(len(self.compiled), "compile"),
            *([f"{len(self.failed)} failed"] if self.failed else []),
            counted(self.graphs, "graph"),
            f"{counted(breaks, 'graph break')} at {counted(len(self.breaks), 'place')}",
            f"{counted(self.recompiles, 'recompile')}, {counted(causing, 'cause')}" if self.causes else "0 recompiles",
            f"{self.seconds:.2f} s ({self.backend_seconds:.2f} s of it in backends{self._waits})",
        ]
        return ", ".join(parts)


def summarize(reader: Reader, launch: str) -> Summary:
    """Read all facts of a launch that a report shows."""
    compiles = reader.compiles(launch)
    runs = [run for run in reader.runs() if run.launch == launch]
    names = compile_names(compiles, runs)
    graph_breaks = reader.facts("graph_breaks", launch)
    recompiles, by_number = reader.facts("recompiles", launch), {each.id: each for each in compiles}
    recompiled = causes(recompiles, by_number, reader.compile)
    of_backends = reader.facts("backend_failures", launch)
    raised = [each for each in graph_breaks if each.effect == "raised"]
    stories = Stories(reader, compiles, runs, shown_path)
    return Summary(
        launch=launch,
        runs=runs,
        compiles=compiles,
        names=names,
        breaks=breaks_at_places(graph_breaks, names, compiles),
        causes=recompiled,
        stories=stories_by_compile(stories, recompiled, _COMPARED),
        comparisons=_comparisons(reader, compiles, recompiled),
        specializations=specialized_values(reader.facts("specializations", launch), names),
        varying=varying_values(not_yet_met(reader.facts("varying_guards", launch), recompiles, by_number), names),
        backend_failures=failures_of_backends(of_backends, names),
        explained={each.compile for each in (*raised, *of_backends)},
        slowest_lines=slowest_lines(reader.facts("line_times", launch)),
    )


def specialized_values(facts: Iterable[model.Specialization], names: dict[int, str]) -> list[Specialized]:
    """Return a row for each value that a line fixed, with the compiles that have it."""
    groups = grouped(facts, lambda fact: (fact.path, fact.line, tuple(fact.origins), fact.value))
    return [Specialized(names_of(group, names), len(group), group[0]) for group in groups]


def failures_of_backends(facts: Iterable[model.BackendFailure], names: dict[int, str]) -> list[BackendFailed]:
    """Return a row for each place and error, with the compiles that have it."""
    groups = grouped(facts, lambda fact: (fact.path, fact.line, fact.backend, fact.exception, fact.message))
    groups.sort(key=lambda group: group[0].compile)
    return [BackendFailed(names_of(group, names), len(group), group[0]) for group in groups]


def varying_values(facts: Iterable[model.VaryingGuard], names: dict[int, str]) -> list[Varying]:
    """Return a row for each guarded value that will change, with the compiles that show it."""
    groups = grouped(facts, lambda fact: (fact.path, fact.line, fact.kind, fact.expression, tuple(fact.others)))
    return [Varying(names_of(group, names), len(group), group[0]) for group in groups]


def _comparisons(reader: Reader, compiles: list[model.Compile], recompiled: list[Cause]) -> dict[int, Compared]:
    by_number = {each.id: each for each in compiles}
    numbers = list(dict.fromkeys(number for cause in recompiled for number in cause.compiles))[:_COMPARED]
    found = {number: compared_with_replaced(reader, by_number[number], compiles) for number in numbers}
    return {number: each for number, each in found.items() if each is not None}


def slowest_lines(times: Iterable[model.LineTime]) -> list[SlowLine]:
    """Return the lines that took Dynamo longest in all compiles, the slowest first."""
    lines: dict[tuple[str, int], SlowLine] = {}
    for time in times:
        known = lines.setdefault((time.path, time.line), SlowLine(time.path, time.line, 0.0, 0))
        known.seconds += time.seconds
        known.visits += time.visits
    return sorted(lines.values(), key=lambda each: each.seconds, reverse=True)[:SLOWEST_LINES]
