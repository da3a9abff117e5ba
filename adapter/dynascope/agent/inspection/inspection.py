"""What one stop shows: frames, scopes, variables. Reads only; made and used on the stopped thread, dead at resume."""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from dynascope.agent.inspection.evaluation.console import NOT_SET, Console
from dynascope.agent.inspection.frames.parameters import running_parameters, symbolic_parameters
from dynascope.agent.inspection.frames.runtime_frame import RunningFrame, evaluate_running, is_running, running_headings
from dynascope.agent.inspection.frames.stack_frames import runtime_frame, symbolic_frame
from dynascope.agent.inspection.frames.step_in_targets import step_in_targets
from dynascope.agent.inspection.scopes import graph, headings
from dynascope.agent.inspection.scopes.heading import Heading
from dynascope.agent.inspection.values.errors import EvaluationError
from dynascope.agent.inspection.values.locations import Locations
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.paging import requested_rows
from dynascope.agent.inspection.values.rows import Below, Look, computed, to_variable
from dynascope.wire.dap import (
    DataBreakpointInfo,
    EvaluateResult,
    LocationsBody,
    Parameter,
    Scope,
    ScopesBody,
    Source,
    StackFrame,
    StepInTargetsBody,
    VariablesBody,
)
from dynascope.wire.to_agent import Evaluate, FindDataBreakpoint, Variables

_FRAME_GONE = "This frame is gone: the program went on since."
_VARIABLE_GONE = "This variable is gone: the program went on since."


class Inspection:
    """What one stop shows. Made and used on the stopped thread only; every id dies at resume."""

    def __init__(
        self, translators: Sequence[Any], ids: Iterator[int], runtime_frames: Sequence[RunningFrame] = ()
    ) -> None:
        """`translators` are Dynamo's, `runtime_frames` the program's (without debugpy only); both innermost first."""
        self._ids = ids
        self._translators = translators
        self._frames: dict[int, Any] = {}
        self._names: dict[int, Names] = {}
        self._consoles: dict[int, Console] = {}
        self._console_scopes: dict[int, int] = {}
        """The frame of each scope that shows names of a console, by its reference."""
        self._below: dict[int, tuple[Below, Names | None]] = {}
        self._locations = Locations(ids)
        self.evaluation_changed = False
        """Whether an evaluation has set names of the console, which other expressions may use."""
        self.document: Source | None = None
        """The graph so far, once it has a reference."""
        self.below: types.FrameType | None = None
        """Where the running program's frames begin, where debugpy shows none."""
        self.frames: list[StackFrame] = []
        self.symbolic_frames = len(translators)
        for translator in translators:
            self.frames.append(symbolic_frame(self._new_frame(translator), translator))
        for frame in runtime_frames:
            self.frames.append(self.add_running(frame))

    def add_running(self, frame: RunningFrame) -> StackFrame:
        """Give a frame of the program an id."""
        return runtime_frame(self._new_frame(frame), frame)

    def runs(self, frame_id: int) -> RunningFrame | None:
        """The frame of that id, if it is one of the program."""
        frame = self._frames[frame_id]
        return frame if is_running(frame) else None

    def parameters(self, frame_id: int, hexadecimal: bool) -> list[Parameter]:
        """Of the function of that frame."""
        running = self.runs(frame_id)
        if running is not None:
            return running_parameters(running, hexadecimal)
        return symbolic_parameters(self.names(frame_id), hexadecimal)

    def _new_frame(self, frame: Any) -> int:
        frame_id = next(self._ids)
        self._frames[frame_id] = frame
        return frame_id

    def _reference(self, below: Below | None, names: Names | None) -> int:
        if below is None:
            return 0
        reference = next(self._ids)
        self._below[reference] = below, names
        return reference

    def names(self, frame_id: int) -> Names:
        """The names of a symbolic frame; raises KeyError for any other id."""
        names = self._names.get(frame_id)
        if names is None:
            names = self._names[frame_id] = Names(self._frames[frame_id])
        return names

    def scopes(self, frame_id: int) -> ScopesBody:
        """The headings of a frame; raises EvaluationError when the id is not of this stop."""
        frame = self._frames.get(frame_id)
        if frame is None:
            raise EvaluationError(_FRAME_GONE)
        with torch._C.DisableTorchFunction():
            names = None if is_running(frame) else self.names(frame_id)
            found = running_headings(frame) if names is None else list(headings(names))
            scopes = [self._scope(heading, names) for heading in found]
            if (console := self._consoles.get(frame_id)) is not None and console.has_names:
                scopes.append(self._scope(Heading("Console", Below(named=computed(console.rows))), names))
                self._console_scopes[scopes[-1].variables_reference] = frame_id
            return ScopesBody(scopes=scopes)

    def _scope(self, heading: Heading, names: Names | None) -> Scope:
        counts = heading.below.counts
        return Scope(
            name=heading.name,
            named_variables=counts[0] if counts else None,
            indexed_variables=counts[1] if counts else None,
            variables_reference=self._reference(heading.below, names),
            expensive=heading.expensive,
            presentation_hint=heading.hint,
            source=self.document if heading.name == graph.NAME else None,
        )

    @property
    def document_name(self) -> str:
        """Of the graph so far."""
        return f"{self.frames[self.symbolic_frames - 1].name} graph so far"

    def document_text(self) -> str:
        """The graph so far, as code."""
        with torch._C.DisableTorchFunction():
            return "\n".join([f"# {self.document_name}", *graph.code(self._translators[0]), ""])

    def location(self, reference: int) -> LocationsBody:
        """Where a variable's location reference leads; raises EvaluationError."""
        return self._locations.find(reference)

    def variables(self, request: Variables) -> VariablesBody:
        """A page of children; raises EvaluationError when the reference is not of this stop."""
        if request.variables_reference not in self._below:
            raise EvaluationError(_VARIABLE_GONE)
        below, names = self._below[request.variables_reference]
        look = Look(None, request.hex) if names is None else names.look(request.hex)
        with torch._C.DisableTorchFunction():
            rows = requested_rows(below, look, request)
            made = (to_variable(row, self._reference(row.below, names), self._locations) for row in rows)
            return VariablesBody(variables=list(made))

    def step_in_targets(self, frame_id: int) -> StepInTargetsBody:
        """The calls that a step can go into; raises EvaluationError when the frame is not of this stop."""
        frame = self._frames.get(frame_id)
        if frame is None:
            raise EvaluationError(_FRAME_GONE)
        running = is_running(frame)
        return StepInTargetsBody(targets=[] if running else step_in_targets(frame))

    def evaluate(self, request: Evaluate) -> EvaluateResult:
        """The value of an expression at a frame; raises EvaluationError with a sentence for the user."""
        frame_id = request.frame_id
        if request.variables_reference is not None:
            if request.variables_reference not in self._console_scopes:
                raise EvaluationError(f"{request.expression} {NOT_SET}")
            frame_id = self._console_scopes[request.variables_reference]
        frame = self._frames.get(frame_id)
        if frame is None:
            raise EvaluationError(_FRAME_GONE)
        names = None if is_running(frame) else self.names(frame_id)
        if names is None:
            if request.assigned is not None:
                raise EvaluationError("Without debugpy (`runtime` is false) variables of the running program stay.")
            row = evaluate_running(frame, request.expression, request.context, request.hex)
        else:
            console = self._console(frame_id)
            look = names.look(request.hex, whole=request.context == "clipboard")
            if request.assigned is None:
                row = console.row(request.expression, request.context, look)
            else:
                row = console.assign(request.expression, request.assigned, look)
            self.evaluation_changed = console.has_changed() and request.context == "repl"
        variable = to_variable(row, self._reference(row.below, names), self._locations)
        return EvaluateResult(
            result=variable.value,
            variables_reference=variable.variables_reference,
            type=variable.type,
            named_variables=variable.named_variables,
            indexed_variables=variable.indexed_variables,
            presentation_hint=variable.presentation_hint,
            value_location_reference=variable.value_location_reference,
        )

    def data_breakpoint(self, request: FindDataBreakpoint) -> DataBreakpointInfo:
        """What a row or an expression of this stop could be watched for; raises EvaluationError when it is over."""
        from dynascope.agent.breakpoints.data import info_at_stop as asking

        if request.variables_reference is not None:
            if request.variables_reference not in self._below:
                raise EvaluationError(_VARIABLE_GONE)
            return asking.of_child(*self._below[request.variables_reference], request.name)
        frame = self._frames.get(request.frame_id or 0)
        if frame is None:
            raise EvaluationError(_FRAME_GONE)
        return asking.of_expression(request.name, frame)

    def _console(self, frame_id: int) -> Console:
        console = self._consoles.get(frame_id)
        if console is None:
            console = self._consoles[frame_id] = Console(self.names(frame_id))
        return console
