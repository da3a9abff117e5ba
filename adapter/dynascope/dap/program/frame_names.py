"""Name the agent's frames in the call stack when a client sends a `StackFrameFormat`."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from dynascope.dap.protocol.arguments import StackFrameFormat
from dynascope.wire.beyond_dap import Parameter
from dynascope.wire.dap import StackFrame


def needs_agent(format: StackFrameFormat | None) -> bool:
    """Whether the agent must be asked: `Stopping` has neither parameters nor hidden frames."""
    return format is not None and (format.include_all or wants_parameters(format))


def wants_parameters(format: StackFrameFormat) -> bool:
    """Whether the format includes a function's parameters."""
    return format.parameters or format.parameter_types or format.parameter_names or format.parameter_values


def named(frame: StackFrame, format: StackFrameFormat | None, parameters: Sequence[Parameter] | None) -> StackFrame:
    """Return the frame with a name like `mlp.forward(self: MLP, x: f32[s0, 16]) [0/1] : 11`.

    The module is the file's name; `parameters` is None if the frame does not belong to a function.
    """
    if format is None:
        return frame
    function, space, where = frame.name.partition(" ")
    source = frame.source and frame.source.name
    module = f"{source.removesuffix('.py')}." if format.module and source else ""
    signature = "" if parameters is None else f"({', '.join(_text(parameter, format) for parameter in parameters)})"
    line = f" : {frame.line}" if format.line else ""
    return msgspec.structs.replace(frame, name=f"{module}{function}{signature}{space}{where}{line}")


def _text(parameter: Parameter, format: StackFrameFormat) -> str:
    """Return the parts in `format` of `x: f32[2, 3]`, `width: int = 4` or `width=4`."""
    selected = format.parameter_names, format.parameter_types, format.parameter_values
    names, types, values = selected if any(selected) else (True, True, False)
    type, value = parameter.type, parameter.value
    if values and value is None and not types:
        type, value = None, type  # a tensor's type is all its value
    text = parameter.name if names else ""
    if types and type is not None:
        text += f": {type}" if text else type
    if values and value is not None:
        equals = " = " if types else "="
        text += f"{equals}{value}" if text else value
    return text or parameter.name
