"""The problems of a launch as data of bounded size, for programs; `docs/report.schema.json` has its schema as JSON."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Struct, field

from dynascope.explain.problem import Problem
from dynascope.explain.ranking import ranking
from dynascope.facts import model
from dynascope.facts.generated.model import bounded
from dynascope.report.summary import Summary

_PROBLEMS, _COMPILES, _TEXTS = 100, 20, 8
"""The most problems of a launch, and compiles, or callers, or details, of a problem."""
_LONGEST = 1_000
"""The most characters of a text."""


class ReportedPlace(Struct):
    """A line of the program or of a library, where it was when it was recorded."""

    path: str
    line: int


class ReportedProblem(Struct):
    """A problem: where it is, why it is there, and what helps, the best first."""

    id: str
    """It stays the same in the next run, and when lines above are edited."""
    kind: str
    """`graphBreak`, `recompile`, `recompileLimit`, `failedCompile`, `backendFailure`, `specialization`, …"""
    title: str
    path: str
    line: int
    function: str
    cause: str
    effect: str
    details: list[str]
    remedies: list[str]
    compiles: list[str]
    """The names of the compiles that have it, or are there because of it: `0/1`."""
    callers: list[ReportedPlace]
    count: int
    """How often it happened."""
    seconds: float
    """The time of the compiles that there would not be without it; 0 for problems that follow from another one."""
    follows_from: str | None = None
    """The id of the problem that this one is a consequence of."""
    registry_id: str | None = None
    """The id in PyTorch's registry of graph breaks."""

    subject: str = ""
    """The call, method, operator or error at which a graph broke; "" where the cause names it."""

    @property
    def reason(self) -> str:
        """Return subject, cause and effect, as far as there are any, in one sentence."""
        return ": ".join(filter(None, [self.subject, self.cause, self.effect]))

    @property
    def hints(self) -> list[str]:
        """Return the remedies."""
        return self.remedies


class ReportedLaunch(Struct):
    """A launch and its problems, those to be mended first before the others."""

    launch: str
    program: str
    torch_version: str
    compiles: int
    graphs: int
    seconds: float
    """The time of all compiles, backends included."""
    backend_seconds: float
    problems: list[ReportedProblem] = field(default_factory=list)
    left_out: int = 0
    """How many more problems there are: `dynascope report --json --all` has all."""


def told_as_json(summary: Summary) -> bytes:
    """Return a JSON object of the problems of a launch."""
    return msgspec.json.format(msgspec.json.encode(reported_launch(summary))) + b"\n"


def reported_launch(summary: Summary) -> ReportedLaunch:
    """Return a launch and its problems."""
    problems = reported(summary)
    run = summary.first_run
    return ReportedLaunch(
        launch=summary.launch,
        program=run.program,
        torch_version=run.torch_version,
        compiles=sum(each.status in model.COMPILES for each in summary.compiles),
        graphs=sum(each.graphs for each in summary.compiles),
        seconds=round(sum(each.seconds for each in summary.compiles), 3),
        backend_seconds=round(sum(each.backend_seconds for each in summary.compiles), 3),
        problems=problems[:_PROBLEMS],
        left_out=max(len(problems) - _PROBLEMS, 0),
    )


def reported(summary: Summary) -> list[ReportedProblem]:
    """Return the problems of a launch, those to be mended first before the others."""
    found = ranking(summary.problems, summary.compiles)
    return [_told(each, summary, seconds) for each, seconds in found.in_order()]


def schema() -> bytes:
    """Return the JSON schema of the object."""
    return msgspec.json.format(msgspec.json.encode(msgspec.json.schema(ReportedLaunch))) + b"\n"


def _told(each: Problem, summary: Summary, seconds: float) -> ReportedProblem:
    return ReportedProblem(
        id=each.id,
        kind=each.kind,
        title=each.title,
        path=each.place.path,
        line=each.place.line,
        function=each.whose.removeprefix("in "),
        cause=bounded(each.cause, _LONGEST),
        subject=bounded(each.subject, _LONGEST),
        effect=bounded(each.effect, _LONGEST),
        details=_few(each.details),
        remedies=_few(each.remedies),
        compiles=[summary.names[number] for number in each.compiles[:_COMPILES]],
        callers=[ReportedPlace(place.path, place.line) for place in each.callers[:_TEXTS]],
        count=len(each.compiles) if each.section == "recompile" and each.compiles else each.count,
        seconds=round(seconds, 3),
        follows_from=each.root or None,
        registry_id=each.registry_id,
    )


def _few(texts: Iterable[str]) -> list[str]:
    return [bounded(text, _LONGEST) for text in list(texts)[:_TEXTS]]
