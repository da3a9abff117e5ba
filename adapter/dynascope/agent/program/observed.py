"""Limit what the session says of the program to what it observes: one process, and its time under the debugger."""

from __future__ import annotations

_attached = False
_started_others = False
_unfollowed = ""


def session_begins() -> None:
    """Begin a session, in which the program has started no process yet."""
    global _attached, _started_others, _unfollowed
    _attached = _started_others = False
    _unfollowed = ""


def note_attached() -> None:
    """Record that the program ran before the session began."""
    global _attached
    _attached = True


def note_process_start(unfollowed: str | None = None) -> None:
    """Record that the program starts another process. Any thread.

    `unfollowed` is the command behind which debugpy does not follow it, such as `env`.
    """
    global _started_others, _unfollowed
    _started_others, _unfollowed = True, unfollowed or _unfollowed


def so_far_as_observed() -> str:
    """Return words that limit a statement to this process and session; "" without need."""
    here = " in this process, which started others" if _started_others else ""
    if _unfollowed:
        here += f" (what `{_unfollowed}` starts is not debugged)"
    return f"{here} since the debugger was attached" if _attached else here
