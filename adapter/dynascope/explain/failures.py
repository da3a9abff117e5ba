"""Make the problems of compiles that fail, in Dynamo or in their backend."""

from __future__ import annotations

from collections.abc import Iterable

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
    same_text,
)
from dynascope.facts import model
from dynascope.facts.distinct import Distinct


def failed_compiles(
    found: Iterable[model.Compile], identities: Identities, positions: Positions | None = None
) -> list[Problem]:
    """Return a problem for each function and reason for which it could not be compiled."""
    positions = positions or Recorded()
    placed = [(line, each) for each in found if (line := positions.now(each)) is not None]
    groups = grouped(
        placed, lambda one: (one[1].path, one[0], one[1].resumes_at, one[1].function, same_text(one[1].failure or ""))
    )
    return [_failed(group[0][0], [each for _, each in group], identities, positions) for group in groups]


def _failed(line: int, same: list[model.Compile], identities: Identities, positions: Positions) -> Problem:
    each = same[0]
    rest = None if each.resumes_at is None else positions.line(each.resumes_at)
    text = (each.failure or "Dynamo gives no reason.").strip()
    cause, _, more = text.partition("\n")
    recorded = Place(each.path, each.resumes_at or each.line, each.source)
    return Problem(
        id=identities.of("failedCompile", recorded, each.function, same_text(cause)),
        kind="failedCompile",
        cause=cause,
        title=fitting(f"Could not compile {named(each.function, rest)}: {cause}"),
        place=Place(each.path, rest or line, each.source),
        function=each.function,
        function_line=line,
        resumes_at=rest,
        statement=text,
        details=[more] if more.strip() else [],
        compiles=[one.id for one in same],
        count=len(same),
        is_error=True,
    )


def backend_failures(
    found: Iterable[Distinct[model.BackendFailure]], identities: Identities, positions: Positions | None = None
) -> list[Problem]:
    """Return a problem for each line and error, the first one first."""
    placed = [(line, each) for each in found if (line := (positions or Recorded()).now(each.fact)) is not None]
    groups = grouped(
        placed,
        lambda one: (one[1].fact.path, one[0], one[1].fact.backend, one[1].fact.exception, _text(one[1].fact)),
    )
    groups.sort(key=lambda group: min(number for _, each in group for number in each.compiles))
    problems = []
    for group in groups:
        line, fact = group[0][0], group[0][1].fact
        cause, text = f"{fact.backend} raised {fact.exception}", fact.message.strip()
        problems.append(
            Problem(
                id=identities.of("backendFailure", Place(fact.path, fact.line, fact.source), "", cause),
                kind="backendFailure",
                cause=cause,
                title=fitting(f"{cause} on the graph that ends here", cause),
                place=Place(fact.path, line, fact.source),
                statement=text,
                details=[first_line(text)] if text else [],
                compiles=list(dict.fromkeys(number for _, each in group for number in each.compiles)),
                count=len(group),
                is_error=True,
            )
        )
    return problems


def _text(fact: model.BackendFailure) -> str:
    return same_text(fact.message)
