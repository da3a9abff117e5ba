"""What one stop in a capture shows. Made and used on the stopped thread; every id dies at resume."""

from __future__ import annotations

import os.path
import types
from collections.abc import Iterator, Sequence

from dynascope.agent.backward import expressions as evaluation
from dynascope.agent.backward.captures.capture_in_progress import LiveCapture
from dynascope.agent.backward.scopes import graph, headings
from dynascope.agent.backward.stop_point import Moment
from dynascope.agent.breakpoints.data.info import refusal
from dynascope.agent.inspection.evaluation.console import NOT_SET
from dynascope.agent.inspection.frames.parameters import running_parameters
from dynascope.agent.inspection.frames.runtime_frame import evaluate_running, running_headings
from dynascope.agent.inspection.frames.stack_frames import runtime_frame
from dynascope.agent.inspection.scopes.heading import Heading
from dynascope.agent.inspection.values.errors import EvaluationError
from dynascope.agent.inspection.values.locations import Locations
from dynascope.agent.inspection.values.paging import requested_rows
from dynascope.agent.inspection.values.rows import Below, Look, Row, to_variable
from dynascope.agent.internals.autograd.captured_graph import set_aside
from dynascope.wire.dap import (
    DataBreakpointInfo,
    EvaluateResult,
    LocationsBody,
    Parameter,
    Scope,
    ScopesBody,
    Source,
    StackFrame,
    VariablesBody,
)
from dynascope.wire.to_agent import Evaluate, FindDataBreakpoint, Variables

NODE_CALLS_SHOWN = 200
"""NodeCalls of a stack; a large model has thousands, and they are all in the Graph scope."""


class BackwardInspection:
    """Like the inspection of a symbolic stop: `frames`, then scopes and variables by id, then evaluation."""

    def __init__(
        self, live: LiveCapture, moment: Moment, ids: Iterator[int], runtime_frames: Sequence[types.FrameType] = ()
    ) -> None:
        """`runtime_frames`, innermost first, only where debugpy has none."""
        self._live = live
        self._ids = ids
        self._moments: dict[int, Moment] = {}
        self._running: dict[int, types.FrameType] = {}
        self._below: dict[int, Below] = {}
        self._locations = Locations(ids)
        self.evaluation_changed = False
        self.document: Source | None = None
        """The graph so far, once it has a reference."""
        self.frames: list[StackFrame] = []
        if moment.kind in ("pass", "run"):
            self._add(moment, moment.pass_name or "run", f"[{live.capture.compile_id}]", None)
        else:
            if moment.kind == "hook":
                self._add_hook(moment)
            self._add_node_calls()
        self.symbolic_frames = len(self.frames)
        """So many of `frames` are the capture's; the rest run."""
        self.below: types.FrameType | None = None
        """Where the running program's frames begin, where debugpy shows none."""
        for frame in runtime_frames:
            self.frames.append(self.add_running(frame))

    def add_running(self, frame: types.FrameType) -> StackFrame:
        """Give a frame of the program an id."""
        frame_id = next(self._ids)
        self._running[frame_id] = frame
        return runtime_frame(frame_id, frame)

    def runs(self, frame_id: int) -> types.FrameType | None:
        """The frame of that id, if it is one of the program."""
        return self._running.get(frame_id)

    def parameters(self, frame_id: int, hexadecimal: bool) -> list[Parameter] | None:
        """Of the function of that frame; None for a node."""
        running = self.runs(frame_id)
        return None if running is None else running_parameters(running, hexadecimal)

    def _add(self, moment: Moment, name: str, where: str, place: tuple[str, int] | None) -> None:
        frame_id = next(self._ids)
        self._moments[frame_id] = moment
        source = None
        if place is not None:
            path = os.path.abspath(place[0])
            source = Source(name=os.path.basename(path), path=path)
        frame = StackFrame(id=frame_id, name=f"{name} {where}", line=place[1] if place else 0, column=1, source=source)
        frame.presentation_hint = None if place is not None else "subtle"
        self.frames.append(frame)

    def _add_hook(self, moment: Moment) -> None:
        place = self._live.place_of_hook(moment.hook)
        known = (place.path, place.line) if place is not None and place.path and place.line else None
        name = f"{place.name} ({moment.hook.kind})" if place is not None else moment.hook.kind
        self._add(moment, name, f"[{self._live.capture.compile_id} NodeCall {moment.node_call}]", known)

    def _add_node_calls(self) -> None:
        calls = self._live.capture.node_calls
        for call in reversed(calls[-NODE_CALLS_SHOWN:]):
            made = self._live.made_at(call.index)
            place = (made[0].path, made[0].line) if made else None
            where = f"[{self._live.capture.compile_id} NodeCall {call.index}]"
            self._add(Moment("node", call.index), call.name, where, place)

    def scopes(self, frame_id: int) -> ScopesBody:
        """The headings of a frame; raises KeyError when the id is not of this stop."""
        with set_aside():
            if frame_id in self._running:
                found = running_headings(self._running[frame_id])
            else:
                found = list(headings(self._live, self._moments[frame_id]))
            return ScopesBody(scopes=[self._scope(heading) for heading in found])

    def _scope(self, heading: Heading) -> Scope:
        reference = self._reference(heading.below)
        return Scope(
            name=heading.name,
            variables_reference=reference,
            expensive=heading.expensive,
            presentation_hint=heading.hint,
            source=self.document if heading.name == graph.NAME else None,
        )

    @property
    def document_name(self) -> str:
        """Of the graph so far."""
        return f"backward [{self._live.capture.compile_id}] graph so far"

    def document_text(self) -> str:
        """The graph so far, as code."""
        with set_aside():
            return "\n".join([f"# {self.document_name}", *graph.code(self._live), ""])

    def location(self, reference: int) -> LocationsBody:
        """Where a variable's location reference leads; raises EvaluationError."""
        return self._locations.find(reference)

    def _reference(self, below: Below | None) -> int:
        if below is None:
            return 0
        reference = next(self._ids)
        self._below[reference] = below
        return reference

    def data_breakpoint(self, request: FindDataBreakpoint) -> DataBreakpointInfo:
        """Nothing: data breakpoints are on what Dynamo traces, and here it does not yet."""
        return refusal("A capture decides nothing of single values: they can be watched when Dynamo traces its graph.")

    def variables(self, request: Variables) -> VariablesBody:
        """A page of children; raises KeyError when the reference is not of this stop."""
        below = self._below[request.variables_reference]
        with set_aside():
            rows = requested_rows(below, Look(None, request.hex), request)
            made = (to_variable(row, self._reference(row.below), self._locations) for row in rows)
            return VariablesBody(variables=list(made))

    def evaluate(self, request: Evaluate) -> EvaluateResult:
        """A row of the frame's scopes by its name, or any expression in a frame of the running program."""
        if request.assigned is not None:
            raise EvaluationError(f"{request.expression} {NOT_SET}")
        with set_aside():
            if request.frame_id in self._running:
                frame = self._running[request.frame_id]
                row = evaluate_running(frame, request.expression, request.context, request.hex)
            elif request.frame_id in self._moments:
                row = self._value(self._moments[request.frame_id], request)
            else:
                raise EvaluationError("This frame is gone: the program went on since.")
            variable = to_variable(row, self._reference(row.below), self._locations)
        return EvaluateResult(
            result=variable.value,
            variables_reference=variable.variables_reference,
            type=variable.type,
            named_variables=variable.named_variables,
            indexed_variables=variable.indexed_variables,
            presentation_hint=variable.presentation_hint,
            value_location_reference=variable.value_location_reference,
        )

    def _value(self, moment: Moment, request: Evaluate) -> Row:
        """A row of the scopes by its name, with all that is below it; else what the expression gives."""
        look, name = Look(None, request.hex), request.expression.strip()
        for heading in headings(self._live, moment):
            if heading.name.lower() == name.lower():
                of_name = evaluation.row(name, self._live, moment, look) if name in evaluation.NAMES else None
                return Row(name, of_name.value if of_name is not None else heading.name, below=heading.below)
            for row in heading.below.page(look, None, None, None):
                if row.name == name:
                    return row
        return evaluation.row(name, self._live, moment, look)
