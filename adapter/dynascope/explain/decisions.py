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
    at_lines,
    compiles_of,
    first_line,
    fitting,
    named,
)
from dynascope.facts import model
from dynascope.facts.distinct import Distinct
from dynascope.facts.recompiles.guarded_value import readable


def specializations(
    found: Iterable[Distinct[model.Specialization]], identities: Identities, positions: Positions | None = None
) -> list[Problem]:
    """Return a problem for each value that a line fixed."""
    problems = []
    for line, same in at_lines(found, positions, lambda each: (tuple(each.fact.origins), each.fact.value)):
        fact = same[0].fact
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
                compiles=compiles_of(same),
                count=len(same),
            )
        )
    return problems


def skipped_frames(
    found: Iterable[model.Compile], identities: Identities, positions: Positions | None = None
) -> list[Problem]:
    """Return a problem for each function, or part of one, that runs uncompiled for one reason."""
    problems = []
    for line, same in at_lines(
        found, positions, lambda each: (each.resumes_at, each.function, first_line(each.skip_reason))
    ):
        each = same[0]
        rest = None if each.resumes_at is None else (positions or Recorded()).line(each.resumes_at)
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
                compiles=[one.id for one in same],
                count=len(same),
            )
        )
    return problems
