"""`dynascope.breakpoint()` in ordinary code during a session, where debugpy is not enough."""

from __future__ import annotations

import types
from typing import Any

from dynascope.agent.isolation.containment import refuse, refuse_if_contained
from dynascope.agent.session.session import current_session
from dynascope.wire.from_agent import ConsoleOutput

_BREAKPOINT = "dynascope.breakpoint()"
_told: set[tuple[str, int]] = set()
"""Places where the user has been warned that it does not stop."""


def reached(frame: types.FrameType, debugpy: Any | None) -> None:
    """Handle the call at `frame` before debugpy, if it is attached, stops there.

    Raises ActRefused in an expression at a stop, where debugpy would resume the thread.
    """
    session = current_session()
    if session is None:
        return
    refuse_if_contained(_BREAKPOINT)
    suspension = session.suspension
    if suspension.is_stopped(suspension.thread_id()):
        refuse(_BREAKPOINT)
    place = frame.f_code.co_filename, frame.f_lineno
    if debugpy is None and place not in _told:
        _told.add(place)
        why = (
            f"{place[0]}:{place[1]}: {_BREAKPOINT} does not stop here, where the program runs: this session debugs the "
            "compile time alone (`runtime` is false).\n"
        )
        session.send(ConsoleOutput(category="console", output=why, path=place[0], line=place[1]))
