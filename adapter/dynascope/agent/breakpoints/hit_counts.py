"""The breakpoints at work, each with one count of its hits: of the passes that Dynamo traces, and of those that run."""

from __future__ import annotations

from dynascope.agent.breakpoints.breakpoint import Asked, Breakpoint

_at_work: dict[int, Breakpoint] = {}


def at_work(asked: Asked, line: int | None) -> Breakpoint:
    """The breakpoint that was asked for; one that is as before keeps its counts. Raises ValueError with a sentence."""
    known = _at_work.get(asked.id)
    if known is None or known.asked != asked or known.line != line:
        known = _at_work[asked.id] = Breakpoint(asked, line)
    return known


def stops(id: int) -> bool:
    """Count a hit in the running program; whether it stops there. debugpy evaluates it (`wire.counting.counted`)."""
    breakpoint = _at_work.get(id)
    return breakpoint is None or breakpoint.counts()


def problem_with(asked: Asked) -> str | None:
    """Why its condition or hit condition means nothing, in a sentence."""
    try:
        Breakpoint(asked, None)
    except ValueError as error:
        return str(error)
    return None


def with_what_counts(message: str | None, asked: Asked, runs_are_debugged: bool) -> str | None:
    """The message beside a breakpoint, with what its hit condition counts, if it has one."""
    if not asked.hit_condition:
        return message
    too = ", and when it runs uncompiled" if runs_are_debugged else ""
    return f"{message or ''} Its hits count over all compiles{too}.".lstrip()


def forget() -> None:
    """Another session begins, which numbers its breakpoints anew."""
    _at_work.clear()
