"""Serve frames, scopes and variables by id at any kind of stop, only on the stopped thread."""

from __future__ import annotations

import types
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch

from dynascope.agent.inspection.stack_frames import (
    RunningFrame,
    evaluate_running,
    is_running,
    running_headings,
    running_parameters,
    runtime_frame,
    values_of,
)
from dynascope.agent.inspection.values import EvaluationError
from dynascope.agent.inspection.values.locations import LocationReferences
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.rows import (
    GRAPH,
    VIRTUAL,
    Children,
    Heading,
    Row,
    ViewOptions,
    requested_rows,
    to_variable,
)
from dynascope.agent.program.threads import all_frames
from dynascope.wire.beyond_dap import FormattedStackBody, Parameter
from dynascope.wire.dap import (
    EvaluateResult,
    LocationsBody,
    Scope,
    ScopesBody,
    Source,
    StackFrame,
    StepInTargetsBody,
    Variable,
    VariablesBody,
)
from dynascope.wire.to_agent import Evaluate, FormatStack, Scopes, Variables

_FRAME_GONE = "This frame no longer exists: the program has resumed since."
_VARIABLE_GONE = "This variable no longer exists: the program has resumed since."


class StopInspection(ABC):
    """Assign ids to frames and children of rows; they are valid until the thread is resumed."""

    no_data_breakpoints: str | None = None
    """Why no data breakpoint can be set at this stop; None where they are possible."""

    skipped_frame: Any = None
    """Dynamo's view of the frame that it does not trace, where the thread is stopped before one."""

    def __init__(self, ids: Iterator[int]) -> None:
        self._ids = ids
        self._frames: dict[int, Any] = {}
        self._children: dict[int, tuple[Children, Names | None]] = {}
        self._if_empty: dict[int, Variable] = {}
        """The row that an empty scope shows, for the reference of each scope."""
        self._locations = LocationReferences(ids)
        self.frames: list[StackFrame] = []
        """The frames, innermost first."""
        self.symbolic_frames = 0
        """The number of `frames` that do not run; the frames of the running program follow them."""
        self.evaluation_changed = False
        """Whether an evaluation has set console names, which other expressions may use."""
        self.document: Source | None = None
        """The document of the graph so far, once it has a reference."""
        self.travel_plan: Any = None
        """Where the user may go back to from this stop (`tracing.time_travel.plan`); None where that is nowhere."""
        self.compiles: Any = None
        """The compiles of which there are tapes (`tracing.history.histories`); None where no frame is traced."""
        self.what_if: Any = None
        """The changes that can be tried at this stop (`tracing.what_if.what_if`); None where there are none."""
        self.first_runtime_frame: types.FrameType | None = None
        """The innermost frame of the running program, where debugpy shows none."""

    # ---- to be defined for each kind of stop

    @property
    @abstractmethod
    def document_name(self) -> str:
        """Return the name of the document of this stop."""

    @abstractmethod
    def document_text(self) -> str:
        """Return the graph so far, as code."""

    @abstractmethod
    def evaluate(self, request: Evaluate) -> EvaluateResult:
        """Evaluate an expression at a frame. Raises EvaluationError with a message for the user."""

    @abstractmethod
    def isolated(self) -> AbstractContextManager[Any]:
        """Return the context in which values of this stop may be read."""

    @abstractmethod
    def headings(self, frame_id: int) -> list[Heading]:
        """Return the scopes of a frame that does not run."""

    def close(self) -> None:
        """Drop what was made to show the stop: the program resumes."""
        self._children.clear()

    def names_of(self, frame_id: int) -> Names | None:
        """Return the names of a frame that Dynamo traces; None for any other frame."""
        return None

    def has_name(self, frame_id: int, name: str) -> bool:
        """Whether a frame has a variable of that name."""
        running = self.runtime_frame(frame_id)
        if running is not None:
            return name in values_of(running) or name in running.f_globals
        names = self.names_of(frame_id)
        return names is not None and names.has(name)

    def parameters_of(self, frame_id: int, hexadecimal: bool) -> list[Parameter] | None:
        """Return the parameters of a symbolic frame's function; None if it has no function."""
        return None

    def step_in_targets(self, frame_id: int) -> StepInTargetsBody:
        """Return the calls that a step can enter. Raises EvaluationError for an unknown frame."""
        return StepInTargetsBody(targets=[])

    # ---- frames

    def add_frame(self, frame: Any) -> int:
        """Register a frame; return its new id."""
        frame_id = next(self._ids)
        self._frames[frame_id] = frame
        return frame_id

    def add_runtime_frame(self, frame: RunningFrame) -> StackFrame:
        """Return a frame of the running program, with a new id."""
        return runtime_frame(self.add_frame(frame), frame)

    def add_runtime_frames(self, frames: Sequence[RunningFrame]) -> None:
        """Append running frames to the frames so far, which do not run."""
        self.symbolic_frames = len(self.frames)
        self.frames += map(self.add_runtime_frame, frames)

    def frame(self, frame_id: int) -> Any:
        """Return the frame with that id. Raises EvaluationError when this stop has none."""
        if frame_id not in self._frames:
            raise EvaluationError(_FRAME_GONE)
        return self._frames[frame_id]

    def frame_id_of(self, frame: Any) -> int:
        """Return the id of a frame of this stop; -1 for any other."""
        return next((frame_id for frame_id, known in self._frames.items() if known is frame), -1)

    def symbolic_number(self, frame_id: int | None) -> int | None:
        """Return which symbolic frame has that id, 0 for the innermost; None for any other frame."""
        symbolic = [frame.id for frame in self.frames[: self.symbolic_frames]]
        return symbolic.index(frame_id) if frame_id in symbolic else None

    def runtime_frame(self, frame_id: int) -> RunningFrame | None:
        """Return the frame with that id if it belongs to the running program, or None."""
        frame = self.frame(frame_id)
        return frame if is_running(frame) else None

    def parameters(self, frame_id: int, hexadecimal: bool) -> list[Parameter] | None:
        """Return the parameters of that frame's function; None if it has no function."""
        running = self.runtime_frame(frame_id)
        return (
            self.parameters_of(frame_id, hexadecimal) if running is None else running_parameters(running, hexadecimal)
        )

    def evaluate_running(self, frame: RunningFrame, request: Evaluate) -> EvaluateResult:
        """Evaluate an expression in a frame of the running program. Raises EvaluationError."""
        if request.assigned is not None:
            raise EvaluationError("Without debugpy (`runtime` is false) the program's variables cannot be set.")
        return self.result(evaluate_running(frame, request.expression, request.context, request.hex))

    # ---- scopes and variables

    def scopes(self, request: Scopes) -> ScopesBody:
        """Return the scopes of a frame. Raises EvaluationError when it no longer exists."""
        frame_id = request.frame_id
        running = self.runtime_frame(frame_id)
        names = None if running is not None else self.names_of(frame_id)
        with self.isolated():
            headings = self.headings(frame_id) if running is None else running_headings(running)
            return ScopesBody(scopes=[self._scope(heading, names) for heading in headings])

    def _scope(self, heading: Heading, names: Names | None) -> Scope:
        counts = heading.children.counts
        reference = self._reference(heading.children, names)
        self._if_empty[reference] = Variable(heading.empty, "", 0, presentation_hint=VIRTUAL)
        return Scope(
            name=heading.name,
            named_variables=counts[0] if counts else None,
            indexed_variables=counts[1] if counts else None,
            variables_reference=reference,
            expensive=heading.expensive,
            presentation_hint=heading.hint,
            source=self.document if heading.name == GRAPH else None,
        )

    def _reference(self, children: Children | None, names: Names | None) -> int:
        if children is None:
            return 0
        reference = next(self._ids)
        self._children[reference] = children, names
        return reference

    def children(self, reference: int) -> tuple[Children, Names | None]:
        """Return a reference's rows and their frame's names. Raises EvaluationError if unknown."""
        if reference not in self._children:
            raise EvaluationError(_VARIABLE_GONE)
        return self._children[reference]

    def variables(self, request: Variables) -> VariablesBody:
        """Return a page of children. Raises EvaluationError when the reference is unknown."""
        children, names = self.children(request.variables_reference)
        options = ViewOptions(None, request.hex) if names is None else names.options(request.hex)
        with self.isolated():
            rows = requested_rows(children, options, request)
            variables = [to_variable(row, self._reference(row.children, names), self._locations) for row in rows]
        empty = self._if_empty.get(request.variables_reference)
        asks_for_all = request.filter is None and request.prefix is None and not request.start
        return VariablesBody(variables=[empty] if asks_for_all and empty is not None and not variables else variables)

    def location(self, reference: int) -> LocationsBody:
        """Return the location of a variable's location reference. Raises EvaluationError."""
        return self._locations.find(reference)

    def result(self, row: Row, names: Names | None = None) -> EvaluateResult:
        """Return a row as the result of an evaluation."""
        variable = to_variable(row, self._reference(row.children, names), self._locations)
        return EvaluateResult(
            result=variable.value,
            variables_reference=variable.variables_reference,
            type=variable.type,
            named_variables=variable.named_variables,
            indexed_variables=variable.indexed_variables,
            presentation_hint=variable.presentation_hint,
            value_location_reference=variable.value_location_reference,
        )


def formatted_stack(inspection: StopInspection, request: FormatStack) -> FormattedStackBody:
    """Return the frames of a stop, with their parameters if the request asks for them."""
    with torch._C.DisableTorchFunction():
        if request.include_all and inspection.first_runtime_frame is not None:
            _add_all(inspection)
        frames = inspection.frames
        parameters = [inspection.parameters(frame.id, request.hex) if request.parameters else None for frame in frames]
        return FormattedStackBody(stack_frames=frames, parameters=parameters)


def _add_all(inspection: StopInspection) -> None:
    symbolic, running = inspection.frames[: inspection.symbolic_frames], inspection.frames[inspection.symbolic_frames :]
    stack_frames = {id(inspection.runtime_frame(frame.id)): frame for frame in running}
    every = list(all_frames(inspection.first_runtime_frame))
    for frame in every:
        if id(frame) not in stack_frames:
            added = stack_frames[id(frame)] = inspection.add_runtime_frame(frame)
            added.presentation_hint = "subtle"
    inspection.frames = symbolic + [stack_frames[id(frame)] for frame in every]
