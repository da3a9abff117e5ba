"""Format the call stack by DAP's `StackFrameFormat`: with parameters, or with all frames."""

from __future__ import annotations

import torch

from dynascope.agent.inspection.stop_inspection import StopInspection
from dynascope.agent.program.frames import all_frames
from dynascope.wire.beyond_dap import FormattedStackBody
from dynascope.wire.to_agent import FormatStack


def formatted_stack(inspection: StopInspection, request: FormatStack) -> FormattedStackBody:
    """Return the frames of a stop, with their parameters if the request asks for them."""
    with torch._C.DisableTorchFunction():
        if request.include_all and inspection.first_runtime_frame is not None:
            _add_all(inspection)
        frames = inspection.frames
        parameters = [inspection.parameters(frame.id, request.hex) if request.parameters else None for frame in frames]
        return FormattedStackBody(stack_frames=frames, parameters=parameters)


def _add_all(inspection: StopInspection) -> None:
    """Add the frames of libraries and of Dynamo."""
    symbolic, running = inspection.frames[: inspection.symbolic_frames], inspection.frames[inspection.symbolic_frames :]
    stack_frames = {id(inspection.runtime_frame(frame.id)): frame for frame in running}
    every = list(all_frames(inspection.first_runtime_frame))
    for frame in every:
        if id(frame) not in stack_frames:
            added = stack_frames[id(frame)] = inspection.add_runtime_frame(frame)
            added.presentation_hint = "subtle"
    inspection.frames = symbolic + [stack_frames[id(frame)] for frame in every]
