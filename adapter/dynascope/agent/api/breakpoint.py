"""`dynascope.breakpoint()` in ordinary code while a session is on: what debugpy does not do, or does wrongly."""

from __future__ import annotations

import types
from typing import Any

from dynascope.agent.internals.isolation.containment import refuse, refuse_if_contained
from dynascope.agent.session.current import current_session
from dynascope.wire.from_agent import Output

_BREAKPOINT = "dynascope.breakpoint()"
_told: set[tuple[str, int]] = set()
"""Places that the user knows not to stop."""


def reached(frame: types.FrameType, debugpy: Any | None) -> None:
    """The program is at `frame`, and debugpy, if it is attached, will stop it.

    Raises ActRefused in an expression at a stop, where debugpy would take the thread out of it.
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
        session.send(Output(category="console", output=why, path=place[0], line=place[1]))
