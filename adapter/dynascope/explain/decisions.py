"""Make the problems of what Dynamo decides by itself: values that it fixes, functions that it leaves uncompiled."""

from __future__ import annotations

from collections.abc import Iterable

from dynascope.explain.callers import callers
from dynascope.explain.failures import of_functions
from dynascope.explain.problem import (
    RECORDED,
    Identities,
    Place,
    Positions,
    Problem,
    at_lines,
    compiles_of,
    fitting,
)
from dynascope.facts import model
from dynascope.facts.distinct import Distinct
from dynascope.facts.recompiles.guarded_value import readable


def specializations(
    found: Iterable[Distinct[model.Specialization]], identities: Identities, positions: Positions = RECORDED
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
    found: Iterable[model.Compile], identities: Identities, positions: Positions = RECORDED
) -> list[Problem]:
    """Return a problem for each function, or part of one, that runs uncompiled for one reason."""
    problems = of_functions("skippedFrame", found, lambda each: each.skip_reason or "", identities, positions)
    for each in problems:
        start = f"Not compiled: {each.whose} runs as plain Python"
        each.title = fitting(f"{start}: {each.cause}", start)
    return problems
