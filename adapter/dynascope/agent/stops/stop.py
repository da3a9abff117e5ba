"""Why a thread stops, and what the client is told with it."""

from __future__ import annotations

from dataclasses import dataclass, field

from dynascope.wire.exceptions import ExceptionInfo
from dynascope.wire.messages import StopReason


@dataclass(frozen=True)
class ExceptionStop:
    """What an exception filter stops at, and the heading of the stop: "Paused on graph break"."""

    info: ExceptionInfo
    description: str


@dataclass
class Stop:
    """One stop: DAP's reason, the breakpoints that are hit, and a text that says more than the reason."""

    reason: StopReason
    breakpoint_ids: list[int] = field(default_factory=list)
    text: str | None = None
    exception: ExceptionStop | None = None

    def merged(self, other: Stop) -> Stop:
        """Return the stop of both at one place: the reason is that of the one that has more to say."""
        first = other if other.text is not None and self.text is None else self
        reason = first.reason if first.text is not None or self.reason == other.reason else "breakpoint"
        ids = [*first.breakpoint_ids, *(self if first is other else other).breakpoint_ids]
        return Stop(reason, ids, first.text, first.exception)
