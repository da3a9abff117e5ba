"""What one stop shows: frames, scopes, variables. Reads only; made and used on the stopped thread, and dead at resume."""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from dynascope.agent.inspection.frames import runtime_frame, symbolic_frame
from dynascope.agent.inspection.names import Named, Names
from dynascope.agent.inspection.rows import Below, Look, to_variable
from dynascope.agent.inspection.scopes import headings
from dynascope.agent.inspection.scopes.heading import Heading, rows_of_names
from dynascope.wire.dap import EvaluateResult, Scope, ScopesBody, StackFrame, VariablesBody
from dynascope.wire.messages import Evaluate, Variables


class Inspection:
    """What one stop shows. Made and used on the stopped thread only; every id dies at resume."""

    def __init__(
        self, translators: Sequence[Any], ids: Iterator[int], runtime_frames: Sequence[types.FrameType] = ()
    ) -> None:
        """`translators`, innermost first, are Dynamo's; `runtime_frames`, innermost first, only where debugpy has none."""
        self._ids = ids
        self._frames: dict[int, Any] = {}
        self._names: dict[int, Names] = {}
        self._below: dict[int, tuple[Below, Any]] = {}
        self.frames: list[StackFrame] = []
        for translator in translators:
            self.frames.append(symbolic_frame(self._new_frame(translator), translator))
        for frame in runtime_frames:
            self.frames.append(runtime_frame(self._new_frame(frame), frame))

    def _new_frame(self, frame: Any) -> int:
        frame_id = next(self._ids)
        self._frames[frame_id] = frame
        return frame_id

    def _reference(self, below: Below | None, effects: Any) -> int:
        if below is None:
            return 0
        reference = next(self._ids)
        self._below[reference] = below, effects
        return reference

    def names(self, frame_id: int) -> Names:
        """The names of a symbolic frame; raises KeyError for any other id."""
        names = self._names.get(frame_id)
        if names is None:
            names = self._names[frame_id] = Names(self._frames[frame_id])
        return names

    def scopes(self, frame_id: int) -> ScopesBody:
        """The headings of a frame; raises KeyError when the id is not of this stop."""
        frame = self._frames[frame_id]
        with torch._C.DisableTorchFunction():
            if isinstance(frame, types.FrameType):
                found, effects = _runtime_headings(frame), None
            else:
                names = self.names(frame_id)
                found, effects = list(headings(names)), names.effects
            return ScopesBody(scopes=[self._scope(heading, effects) for heading in found])

    def _scope(self, heading: Heading, effects: Any) -> Scope:
        return Scope(
            name=heading.name,
            variables_reference=self._reference(heading.below, effects),
            expensive=heading.expensive,
            presentation_hint=heading.hint,
        )

    def variables(self, request: Variables) -> VariablesBody:
        """A page of children; raises KeyError when the reference is not of this stop."""
        below, effects = self._below[request.variables_reference]
        look = Look(effects, request.hex)
        with torch._C.DisableTorchFunction():
            rows = below.page(look, request.filter, request.start, request.count)
            return VariablesBody(variables=[to_variable(row, self._reference(row.below, effects)) for row in rows])

    def evaluate(self, request: Evaluate) -> EvaluateResult:
        """The value of an expression at a frame; raises EvaluationError with a sentence for the user."""
        raise NotImplementedError


def _runtime_headings(frame: types.FrameType) -> list[Heading]:
    """Locals and Globals of a running frame, as plain values."""
    local_names = {name: Named(real=value) for name, value in dict(frame.f_locals).items()}
    found = [Heading("Locals", Below(named=rows_of_names(local_names)), hint="locals")]
    if frame.f_globals is not frame.f_locals:
        global_names = {name: Named(real=value) for name, value in frame.f_globals.items() if name != "__builtins__"}
        found.append(Heading("Globals", Below(named=rows_of_names(global_names)), expensive=True, hint="globals"))
    return found
