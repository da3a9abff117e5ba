"""Make the problems of what Dynamo decides by itself: values that it fixes, functions that it leaves uncompiled."""

from __future__ import annotations

from collections.abc import Iterable

from dynascope.explain.callers import callers
from dynascope.explain.problem import (
    Identities,
    Place,
    Positions,
    Problem,
    Recorded,
    first_line,
    fitting,
    grouped,
    named,
)
from dynascope.facts import model
from dynascope.facts.distinct import Distinct
from dynascope.facts.recompiles.guarded_value import readable


def specializations(
    found: Iterable[Distinct[model.Specialization]], identities: Identities, positions: Positions | None = None
) -> list[Problem]:
    """Return a problem for each value that a line fixed."""
    placed = [(line, each) for each in found if (line := (positions or Recorded()).now(each.fact)) is not None]
    problems = []
    for group in grouped(placed, lambda one: (one[1].fact.path, one[0], tuple(one[1].fact.origins), one[1].fact.value)):
        line, fact = group[0][0], group[0][1].fact
        origins = ", ".join(map(readable, fact.origins))
        origin = f" ({origins})" if origins else ""
        problems.append(
            Problem(
                id=identities.of("specialization", Place(fact.path, fact.line, fact.source), "", origins),
                kind="specialization",
                cause=f"{origins or fact.symbol} = {fact.value}",
                title=fitting(
                    f"Specialised: {fact.symbol}{origin} is fixed to {fact.value}",
                    f"Specialised to {fact.value}: {origins or fact.symbol}",
                ),
                place=Place(fact.path, line, fact.source),
                statement=fact.reason,
                notes=callers(fact),
                compiles=list(dict.fromkeys(number for _, each in group for number in each.compiles)),
                count=len(group),
            )
        )
    return problems


def skipped_frames(
    found: Iterable[model.Compile], identities: Identities, positions: Positions | None = None
) -> list[Problem]:
    """Return a problem for each function, or part of one, that runs uncompiled for one reason."""
    positions = positions or Recorded()
    placed = [(line, each) for each in found if (line := positions.now(each)) is not None]
    problems = []
    for group in grouped(
        placed, lambda one: (one[1].path, one[0], one[1].resumes_at, one[1].function, first_line(one[1].skip_reason))
    ):
        line, each = group[0]
        rest = None if each.resumes_at is None else positions.line(each.resumes_at)
        what, cause = named(each.function, rest), first_line(each.skip_reason)
        recorded = Place(each.path, each.resumes_at or each.line, each.source)
        problems.append(
            Problem(
                id=identities.of("skippedFrame", recorded, each.function, cause),
                kind="skippedFrame",
                cause=cause,
                title=fitting(
                    f"Not compiled: {what} runs as plain Python: {cause}", f"Not compiled: {what} runs as plain Python"
                ),
                place=Place(each.path, rest or line, each.source),
                function=each.function,
                function_line=line,
                resumes_at=rest,
                statement=(each.skip_reason or "").strip(),
                compiles=[one.id for _, one in group],
                count=len(group),
            )
        )
    return problems
