"""The reason for a stop, and the texts that the client shows with it."""

from __future__ import annotations

from dataclasses import dataclass, field

from dynascope.wire.dap import ExceptionInfo
from dynascope.wire.messages import StopReason


@dataclass(frozen=True)
class ExceptionStop:
    """The exception of a filter's stop, and its heading, such as "Paused on graph break"."""

    info: ExceptionInfo
    description: str


@dataclass
class Stop:
    """One stop: DAP's reason, the breakpoints hit, and a text with more detail than the reason."""

    reason: StopReason
    breakpoint_ids: list[int] = field(default_factory=list)
    text: str | None = None
    exception: ExceptionStop | None = None

    def merged(self, other: Stop) -> Stop:
        """Return one stop for both at the same place, with the reason of the one that has a text."""
        first = other if other.text is not None and self.text is None else self
        reason = first.reason if first.text is not None or self.reason == other.reason else "breakpoint"
        ids = [*first.breakpoint_ids, *(self if first is other else other).breakpoint_ids]
        return Stop(reason, ids, first.text, first.exception)
