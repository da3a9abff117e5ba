"""The breakpoints of the process with their hit counts, over traced and running passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from dynascope.agent.breakpoints.breakpoint import Asked, Breakpoint
from dynascope.explain.breakpoints import HITS, HITS_OF_RUNS

Made = TypeVar("Made", bound=Breakpoint)

_at_work: dict[int, Breakpoint] = {}
"""By id, for the whole process: debugpy counts through `stops`, which gets only the id."""


@overload
def at_work(asked: Asked, line: int | None) -> Breakpoint: ...
@overload
def at_work(asked: Asked, line: None, make: Callable[[Any, None], Made]) -> Made: ...
def at_work(asked: Asked, line: int | None, make: Callable[[Any, Any], Any] = Breakpoint) -> Any:
    """Return the breakpoint of a request. An unchanged one is reused, with its hit count.

    `make` creates a new one. Raises ValueError with a message for the user.
    """
    before = _at_work.get(asked.id)
    if before is None or before.asked != asked or before.line != line:
        before = _at_work[asked.id] = make(asked, line)
    return before


def stops(breakpoint_id: int) -> bool:
    """Count a hit in the running program and return whether it stops (`wire.counting.counted`)."""
    breakpoint = _at_work.get(breakpoint_id)
    return breakpoint is None or breakpoint.counts()


def with_what_counts(message: str | None, asked: Asked, runs_are_debugged: bool) -> str | None:
    """Return a breakpoint's message, extended by what its hit condition counts if it has one."""
    if not asked.hit_condition:
        return message
    return f"{message or ''}{HITS_OF_RUNS if runs_are_debugged else HITS}".lstrip()


def begin_session() -> None:
    """Forget every breakpoint, because another session assigns its own ids."""
    _at_work.clear()
