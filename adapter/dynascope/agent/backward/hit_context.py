"""The context in which conditions and log messages of backward breakpoints are evaluated."""

from __future__ import annotations

from dynascope.agent.backward import expressions
from dynascope.agent.backward.captures.capture_in_progress import LiveCapture
from dynascope.agent.backward.stop_point import StopPoint


class BackwardContext:
    """A point of a capture, as `breakpoints.hits.HitContext`."""

    where = "in this backward"

    def __init__(self, live: LiveCapture, point: StopPoint) -> None:
        self._live = live
        self._point = point

    @property
    def location(self) -> tuple[str | None, int | None]:
        """Return the forward line that created the node."""
        frames = self._live.made_at(self._point.node_call) if self._point.node_call is not None else []
        return (frames[0].path, frames[0].line) if frames else (None, None)

    def holds(self, expression: str) -> bool:
        return expressions.holds(expression, self._live, self._point)

    def log_text(self, template: str) -> str:
        return expressions.log_text(template, self._live, self._point)
