"""Make the problems of compiles that fail, in Dynamo or in their backend."""

from __future__ import annotations

from collections.abc import Iterable

from dynascope.explain.callers import is_torch
from dynascope.explain.problem import (
    Identities,
    Note,
    Place,
    Positions,
    Problem,
    Recorded,
    at_lines,
    compiles_of,
    first_line,
    fitting,
    named,
    same_text,
)
from dynascope.facts import model
from dynascope.facts.break_message import USER_CODE, logged_stack, user_code_of
from dynascope.facts.distinct import Distinct


def failed_compiles(
    found: Iterable[model.Compile], identities: Identities, positions: Positions | None = None
) -> list[Problem]:
    """Return a problem for each function and reason for which it could not be compiled."""
    groups = at_lines(found, positions, lambda each: (each.resumes_at, each.function, same_text(each.failure or "")))
    return [_failed(line, same, identities, positions or Recorded()) for line, same in groups]


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
        details=[more] if (more := more.partition(USER_CODE)[0]).strip() else [],
        notes=[
            Note(kind="caller", text="it failed in", subject=frame.function, place=Place(frame.path, frame.line))
            for frame in reversed(logged_stack(user_code_of(text)))
            if not is_torch(frame)
        ],
        compiles=[one.id for one in same],
        count=len(same),
        is_error=True,
    )


def backend_failures(
    found: Iterable[Distinct[model.BackendFailure]], identities: Identities, positions: Positions | None = None
) -> list[Problem]:
    """Return a problem for each line and error, the first one first."""
    groups = at_lines(
        found,
        positions,
        lambda each: (each.fact.backend, each.fact.exception, same_text(each.fact.message)),
    )
    groups.sort(key=lambda group: min(compiles_of(group[1])))
    problems = []
    for line, same in groups:
        fact = same[0].fact
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
                compiles=compiles_of(same),
                count=len(same),
                is_error=True,
            )
        )
    return problems
