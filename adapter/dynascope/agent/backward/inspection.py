"""The inspection of a stop in a capture of compiled autograd: NodeCalls and graph so far."""

from __future__ import annotations

import os.path
import types
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from dynascope.agent.backward import expressions
from dynascope.agent.backward.captures.capture_in_progress import LiveCapture, StopPoint
from dynascope.agent.backward.scopes import graph, headings
from dynascope.agent.inspection.evaluation.console import NOT_SET
from dynascope.agent.inspection.stack_frames import evaluate_running
from dynascope.agent.inspection.stop_inspection import StopInspection
from dynascope.agent.inspection.values.errors import EvaluationError
from dynascope.agent.inspection.values.rows import Heading, Row, ViewOptions
from dynascope.agent.isolation.isolation import without_modes
from dynascope.wire.dap import EvaluateResult, Source, StackFrame
from dynascope.wire.to_agent import Evaluate

NODE_CALLS_SHOWN = 200
"""The number of NodeCalls in a stack; a large model has thousands, all in the Graph scope."""


class BackwardInspection(StopInspection):
    """Inspect a stop in a capture, without changing it."""

    no_data_breakpoints = (
        "A capture decides nothing of single values: they can be watched when Dynamo traces its graph."
    )

    def __init__(
        self, live: LiveCapture, point: StopPoint, ids: Iterator[int], runtime_frames: Sequence[types.FrameType] = ()
    ) -> None:
        """Inspect at `point`; give `runtime_frames`, innermost first, only if debugpy shows none."""
        super().__init__(ids)
        self._live = live
        if point.kind in ("pass", "run"):
            self._add(point, point.pass_name or "run", f"[{live.capture.compile_id}]", None)
        else:
            if point.kind == "hook":
                self._add_hook(point)
            self._add_node_calls()
        self.add_runtime_frames(runtime_frames)

    def _add(self, point: StopPoint, name: str, where: str, place: tuple[str, int] | None) -> None:
        frame_id, source = self.add_frame(point), None
        if place is not None:
            path = os.path.abspath(place[0])
            source = Source(name=os.path.basename(path), path=path)
        frame = StackFrame(id=frame_id, name=f"{name} {where}", line=place[1] if place else 0, column=1, source=source)
        frame.presentation_hint = None if place is not None else "subtle"
        self.frames.append(frame)

    def _add_hook(self, point: StopPoint) -> None:
        place = self._live.place_of_hook(point.hook)
        location = (place.path, place.line) if place is not None and place.path and place.line else None
        name = f"{place.name} ({point.hook.kind})" if place is not None else point.hook.kind
        self._add(point, name, f"[{self._live.capture.compile_id} NodeCall {point.node_call}]", location)

    def _add_node_calls(self) -> None:
        calls = self._live.capture.node_calls
        for call in reversed(calls[-NODE_CALLS_SHOWN:]):
            place = self._live.forward_place(call.index)
            where = f"[{self._live.capture.compile_id} NodeCall {call.index}]"
            self._add(StopPoint("node", call.index), call.name, where, place)

    def isolated(self) -> AbstractContextManager[Any]:
        return without_modes()

    def headings(self, frame_id: int) -> list[Heading]:
        return list(headings(self._live, self.frame(frame_id)))

    @property
    def document_name(self) -> str:
        return f"backward [{self._live.capture.compile_id}] graph so far"

    def document_text(self) -> str:
        with self.isolated():
            return "\n".join([f"# {self.document_name}", *graph.code(self._live), ""])

    def evaluate(self, request: Evaluate) -> EvaluateResult:
        """Return a row of the frame's scopes by its name, or the value of an expression."""
        if request.assigned is not None:
            raise EvaluationError(f"{request.expression} {NOT_SET}")
        running = self.runtime_frame(request.frame_id)
        with self.isolated():
            if running is not None:
                row = evaluate_running(running, request.expression, request.context, request.hex)
            else:
                row = self._value(self.frame(request.frame_id), request)
            return self.result(row)

    def _value(self, point: StopPoint, request: Evaluate) -> Row:
        options, name = ViewOptions(None, request.hex), request.expression.strip()
        for heading in headings(self._live, point):
            if heading.name.lower() == name.lower():
                of_name = expressions.row(name, self._live, point, options) if name in expressions.NAMES else None
                return Row(name, of_name.value if of_name is not None else heading.name, children=heading.children)
            for row in heading.children.page(options, None, None, None):
                if row.name == name:
                    return row
        return expressions.row(name, self._live, point, options)
