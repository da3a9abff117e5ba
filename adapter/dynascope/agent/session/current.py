"""The session of this process, for what the program itself calls."""

from __future__ import annotations

from dynascope.agent.session.session import Session

_current: Session | None = None


def current_session() -> Session | None:
    """Return the session that is on in this process, or None."""
    return _current


def set_current(session: Session | None) -> None:
    """Make this the session of the process."""
    global _current
    _current = session
