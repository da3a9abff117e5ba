"""Note why a session observes only a part of the program: its other processes, coverage.py, a late attach."""

from __future__ import annotations

import sys
from typing import Any

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


NOTICE = (
    "coverage.py measures this program. On Python 3.11 it and debugpy share one trace function: run-time breakpoints "
    "may not stop, and lines may be missing from its report. Compile-time stops are not affected. Run without "
    'coverage, set "runtime": false, or use Python 3.12 or newer.\n'
)


def takes_the_trace_function() -> bool:
    """Whether coverage.py now uses `sys.settrace`, which debugpy needs before Python 3.12."""
    coverage: Any = sys.modules.get("coverage")
    current = getattr(getattr(coverage, "Coverage", None), "current", None)
    return sys.version_info < (3, 12) and current is not None and current() is not None
