"""Summarise a launch: breaks, recompiles, the slowest lines. Equal facts of several compiles are one row."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from dynascope.explain import ranks
from dynascope.explain.compiles import totals
from dynascope.explain.of_launch import ProblemsOfLaunch
from dynascope.explain.problem import Problem
from dynascope.explain.recompiles import story
from dynascope.facts import model
from dynascope.facts.comparison.recorded import Compared, compared_with_replaced
from dynascope.facts.process_names import compile_names
from dynascope.facts.reader import Reader
from dynascope.facts.recompiles.causes import Cause
from dynascope.report.sources import shown_path

SLOWEST_LINES = 15
_COMPARED = 64
"""The number of recompiles that are compared with what they replace."""


_LEAST_PART = 0.01
"""The least part of the time of all lines that is worth a line."""


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
    problems: list[Problem]
    stories: dict[int, list[str]]
    """Sentences on recompiles and refused calls, by number: the call, what differs in it, what runs at the limit."""
    comparisons: dict[int, Compared]
    """What differs from the compile that each recompile replaces, by the recompile's number."""
    slowest_lines: list[SlowLine]
    compiling: set[int]
    """The runs that have compiles, those for which another one is shown among them."""
    seconds_later: float
    """How long backwards and kernels were compiled after the compiles had ended."""
    ranks: str
    """Whether the ranks of a job compiled alike; "" where there are none."""

    @property
    def first_run(self) -> model.Run:
        """Return the first process: it started the others, and has the user's command line."""
        return min(self.runs, key=lambda run: run.began)

    @property
    def processes(self) -> str:
        """Return `ranks 0-3` for processes that have compiles; "" for a single one."""
        return ranks.processes([run for run in self.runs if run.id in self.compiling])

    @property
    def totals(self) -> str:
        """Return how much was compiled, how long it took, and what went wrong."""
        return totals(self.compiles, self.problems, self.seconds_later)

    def of_kind(self, kind: str) -> list[Problem]:
        """Return the problems below the heading of a kind."""
        return [each for each in self.problems if each.section == kind]

    @property
    def is_whole(self) -> bool:
        """Whether something was compiled, and neither broke nor failed."""
        broken = any(each.status == "failed" for each in self.compiles) or self.of_kind("graphBreak")
        return bool(self.compiles) and not broken


def summarize(reader: Reader, launch: str) -> Summary:
    """Read all facts of a launch that a report shows."""
    found = ProblemsOfLaunch(reader, launch)
    runs = [run for run in reader.runs() if run.launch == launch]
    numbers = [(cause, number) for cause in found.causes for number in cause.compiles][:_COMPARED]
    numbers += [(cause, number) for cause in found.causes for number in sorted(cause.caused - {*cause.compiles})[:1]]
    problems, contents = found.problems, reader.numbers_of_contents(launch)
    compared = ranks.compared(
        [each for each in reader.alike.ranks if each.launch == launch],
        reader.seconds_of_ranks(launch),
        lambda content: found.by_number[contents.get(content, [content])[0]],
        problems,
    )
    stories = {n: story(reader, cause, n, found.compiles, runs, shown_path) for cause, n in numbers}
    return Summary(
        launch=launch,
        runs=runs,
        compiles=found.compiles,
        names=compile_names(found.compiles, runs),
        problems=problems,
        stories={number: told for number, told in stories.items() if told},
        comparisons=_comparisons(reader, found.compiles, found.causes),
        slowest_lines=slowest_lines(reader.facts("line_times", launch)),
        compiling={each.run for each in found.compiles} | reader.alike.shown_by.keys(),
        seconds_later=reader.seconds_later(launch),
        ranks=compared,
    )


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
    least = sum(each.seconds for each in lines.values()) * _LEAST_PART
    slow = [each for each in lines.values() if each.seconds >= least]
    return sorted(slow, key=lambda each: each.seconds, reverse=True)[:SLOWEST_LINES]
