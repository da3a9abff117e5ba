"""The call stack as a `StackFrameFormat` wants it: with parameters, or with frames that are left out otherwise."""

from __future__ import annotations

import types
from typing import Any, Protocol

import torch

from dynascope.agent.program.frames import all_frames
from dynascope.wire.dap import FormattedStackBody, Parameter, StackFrame
from dynascope.wire.to_agent import FormatStack


class Formattable(Protocol):
    """An inspection: of a symbolic stop, or of one in a backward."""

    frames: list[StackFrame]
    symbolic_frames: int
    below: types.FrameType | None

    def runs(self, frame_id: int) -> Any:
        """The running frame of that id; None for one that does not run."""

    def add_running(self, frame: types.FrameType) -> StackFrame:
        """Give a running frame an id."""

    def parameters(self, frame_id: int, hexadecimal: bool) -> list[Parameter] | None:
        """Of the function of that frame; None when it is no function's."""


def formatted_stack(inspection: Formattable, request: FormatStack) -> FormattedStackBody:
    """`below`, of the inspection, is where the running program's frames begin; None where debugpy shows them."""
    with torch._C.DisableTorchFunction():
        if request.include_all and inspection.below is not None:
            _add_all(inspection, inspection.below)
        frames = inspection.frames
        parameters = [inspection.parameters(frame.id, request.hex) if request.parameters else None for frame in frames]
        return FormattedStackBody(stack_frames=frames, parameters=parameters)


def _add_all(inspection: Formattable, below: types.FrameType) -> None:
    symbolic, running = inspection.frames[: inspection.symbolic_frames], inspection.frames[inspection.symbolic_frames :]
    known = {id(inspection.runs(frame.id)): frame for frame in running}
    for frame in all_frames(below):
        if id(frame) not in known:
            added = known[id(frame)] = inspection.add_running(frame)
            added.presentation_hint = "subtle"
    inspection.frames = symbolic + [known[id(frame)] for frame in all_frames(below)]
