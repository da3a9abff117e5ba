"""How the call stack names the agent's frames when a client sends a `StackFrameFormat`."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from dynascope.dap.protocol.arguments import StackFrameFormat
from dynascope.wire.dap import Parameter, StackFrame


def needs_agent(format: StackFrameFormat | None) -> bool:
    """Whether the agent has to be asked: what it says of a stop has neither parameters nor hidden frames."""
    return format is not None and (format.include_all or wants_parameters(format))


def wants_parameters(format: StackFrameFormat) -> bool:
    """Whether a name has the parameters of its function."""
    return format.parameters or format.parameter_types or format.parameter_names or format.parameter_values


def named(frame: StackFrame, format: StackFrameFormat | None, parameters: Sequence[Parameter] | None) -> StackFrame:
    """The frame under the name that the client asks for: `mlp.forward(self: MLP, x: f32[s0, 16]) [0/1] : 11`.

    The module is that of its file; `parameters` None: it is no function's.
    """
    if format is None:
        return frame
    function, space, where = frame.name.partition(" ")
    source = frame.source and frame.source.name
    module = f"{source.removesuffix('.py')}." if format.module and source else ""
    shown = "" if parameters is None else f"({', '.join(_text(each, format) for each in parameters)})"
    line = f" : {frame.line}" if format.line else ""
    return msgspec.structs.replace(frame, name=f"{module}{function}{shown}{space}{where}{line}")


def _text(parameter: Parameter, format: StackFrameFormat) -> str:
    """`x: f32[2, 3]`, `width: int = 4`, `width=4`, or what of it is asked for."""
    asked = format.parameter_names, format.parameter_types, format.parameter_values
    names, types, values = asked if any(asked) else (True, True, False)
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
