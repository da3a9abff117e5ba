"""The current session of this process, for functions that the program calls."""

from __future__ import annotations

from dynascope.agent.session.session import Session

_current: Session | None = None


def current_session() -> Session | None:
    """Return the current session of this process, or None."""
    return _current


def set_current(session: Session | None) -> None:
    """Set the current session of this process."""
    global _current
    _current = session
