"""Make the problems of what Dynamo decides by itself: values that it fixes, functions that it leaves uncompiled."""

from __future__ import annotations

from collections.abc import Iterable

from dynascope.explain.failures import of_functions
from dynascope.explain.problem import RECORDED, Identities, Place, Positions, Problem, fitting
from dynascope.facts import model
from dynascope.facts.recompiles.guarded_value import readable


def specialized(symbol: str, value: str, origins: Iterable[str]) -> str:
    """Say in one line that a line fixes a symbol; `origins` are its sources."""
    source = ", ".join(map(readable, origins))
    return fitting(
        f"Specialised: {symbol}{f' ({source})' if source else ''} is fixed to {value}",
        f"Specialised to {value}: {source or symbol}",
    )


def not_compiled(what: str, cause: str) -> str:
    """Say in one line that a function, or part of one, runs uncompiled; `cause` may be ""."""
    return fitting(uncompiled(what, cause), uncompiled(what))


def uncompiled(what: str, cause: str = "") -> str:
    return f"Not compiled: {what} runs as plain Python{f': {cause}' if cause else ''}"


def specialization(fact: model.Specialization) -> Problem:
    """Return the problem of a value that a line fixed."""
    origins = ", ".join(map(readable, fact.origins))
    return Problem(
        id=origins,
        kind="specialization",
        cause=f"{origins or fact.symbol} = {fact.value}",
        title=specialized(fact.symbol, fact.value, fact.origins),
        place=Place(fact.path, fact.line, fact.source),
        statement=fact.reason,
    )


def skipped_frames(
    found: Iterable[model.Compile], identities: Identities, positions: Positions = RECORDED
) -> list[Problem]:
    """Return a problem for each function, or part of one, that runs uncompiled for one reason."""
    problems = of_functions("skippedFrame", found, lambda each: each.skip_reason or "", identities, positions)
    for each in problems:
        each.title = not_compiled(each.whose, each.cause)
    return problems
