"""Which breakpoints of the backward stop at a moment: conditions, counts, and logpoints, which write instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from dynascope.agent.backward import expressions as evaluation
from dynascope.agent.backward.captures.capture_in_progress import LiveCapture
from dynascope.agent.backward.stop_point import Moment
from dynascope.agent.breakpoints.breakpoint import Breakpoint
from dynascope.agent.inspection.values.errors import EvaluationError
from dynascope.wire.from_agent import Output
from dynascope.wire.messages import Message


class BackwardHits:
    """Asked on the thread that runs the backward, once for each moment and breakpoint."""

    def __init__(self, send: Callable[[Message], None]) -> None:
        """`send` takes what logpoints write, and why a condition has no answer."""
        self._send = send
        self._told: set[tuple[int, str]] = set()

    def at(self, found: Iterable[Breakpoint], live: LiveCapture, moment: Moment) -> list[Breakpoint]:
        """Those of `found` that stop."""
        return [each for each in found if self._stops(each, live, moment)]

    def _stops(self, breakpoint: Breakpoint, live: LiveCapture, moment: Moment) -> bool:
        breakpoint.reached += 1
        if not self._holds(breakpoint, live, moment) or not breakpoint.counts():
            return False
        if breakpoint.log_message is None:
            return True
        self._write("console", f"{evaluation.log_text(breakpoint.log_message, live, moment)}\n", live, moment)
        return False

    def _holds(self, breakpoint: Breakpoint, live: LiveCapture, moment: Moment) -> bool:
        """Whether the condition does; one that has no answer does, and says so once."""
        if breakpoint.condition is None:
            return True
        try:
            return evaluation.holds(breakpoint.condition, live, moment)
        except EvaluationError as error:
            if (breakpoint.id, breakpoint.condition) not in self._told:
                self._told.add((breakpoint.id, breakpoint.condition))
                text = f"The condition {breakpoint.condition!r} has no answer in this backward: stopping. {error}\n"
                self._write("important", text, live, moment)
            return True

    def _write(self, category: Literal["console", "important"], text: str, live: LiveCapture, moment: Moment) -> None:
        made = live.made_at(moment.node_call) if moment.node_call is not None else []
        path, line = (made[0].path, made[0].line) if made else (None, None)
        self._send(Output(category=category, output=text, path=path, line=line))
