"""Merge stops and stacks of debugpy and of the agent, and name the agent's frames as a `StackFrameFormat` wants them.

At a compile-time stop pydevd shows the agent's frames as duck-typed ones on top of the real stack. It never filters
them, so they are the first rows of its `stackTrace`, and each is replaced, by position, with the agent's frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw

from dynascope.dap.agent_channel.agent_connection import AgentConnection
from dynascope.dap.client.breakpoint_table import BreakpointTable
from dynascope.dap.protocol.arguments import StackFrameFormat
from dynascope.dap.protocol.launch_arguments import PathMap
from dynascope.wire.beyond_dap import Parameter
from dynascope.wire.dap import DapStruct, StackFrame
from dynascope.wire.from_agent import Stopping

DESCRIPTION = "Paused at compile time"


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


@dataclass
class CompileTimeStop:
    """A thread that waits at a compile-time stop."""

    notice: Stopping
    frames: list[StackFrame]
    """Innermost first, with the client's paths."""

    @property
    def first_id(self) -> int:
        """Return the smallest id that the agent uses at this stop."""
        return min(frame.id for frame in self.frames) if self.frames else 0


class StoppedThread(NamedTuple):
    """A thread at a compile-time stop, and the agent through which it serves requests."""

    agent: AgentConnection
    stop: CompileTimeStop

    @property
    def ident(self) -> int:
        """Return Python's id of the thread, by which the agent knows it."""
        return self.stop.notice.thread_ident


class Stops:
    """The threads that wait at compile-time stops, by DAP thread id."""

    def __init__(self) -> None:
        self._stops: dict[int, CompileTimeStop] = {}

    def add(self, notice: Stopping, paths: PathMap) -> CompileTimeStop:
        frames = list(map(paths.frame_to_client, notice.frames))
        stop = self._stops[notice.thread_id] = CompileTimeStop(notice, frames)
        return stop

    def remove_thread(self, thread_ident: int) -> CompileTimeStop | None:
        """Remove the stop of that thread and return it; None when it was removed before."""
        stop = next((s for s in self._stops.values() if s.notice.thread_ident == thread_ident), None)
        if stop is not None:
            del self._stops[stop.notice.thread_id]
        return stop

    def clear(self) -> None:
        self._stops.clear()

    def of_thread(self, thread_id: int) -> CompileTimeStop | None:
        return self._stops.get(thread_id)

    def all(self) -> list[CompileTimeStop]:
        return list(self._stops.values())

    def of_id(self, id: int) -> CompileTimeStop | None:
        """Return the stop of a frame id or variablesReference: the last one that began before it."""
        older = [stop for stop in self._stops.values() if stop.first_id <= id]
        return max(older, key=lambda stop: stop.first_id, default=None)


class RawStackTrace(DapStruct):
    """A `stackTrace` body whose frames are undecoded JSON."""

    stack_frames: list[Raw]
    total_frames: int | None = None


_stack_decoder = msgspec.json.Decoder(RawStackTrace)


def merged_stack(stop: CompileTimeStop, frames: list[StackFrame], body: Raw, start: int) -> RawStackTrace:
    """Return debugpy's `stackTrace` body from frame `start`, with the agent's symbolic frames."""
    stack = _stack_decoder.decode(body)
    for number, frame in enumerate(stack.stack_frames):
        position = start + number
        if position < stop.notice.symbolic_frames:
            stack.stack_frames[number] = Raw(msgspec.json.encode(frames[position]))
        else:  # one of the program, which runs
            stack.stack_frames[number] = Raw(bytes(frame).rstrip()[:-1] + b',"canRestart":false}')
    return stack


def agents_stack(frames: list[StackFrame], start: int, levels: int) -> dict[str, Any]:
    """Return the `stackTrace` body of a thread that waits in the agent's own loop."""
    end = start + levels if levels else len(frames)
    return {"stackFrames": frames[start:end], "totalFrames": len(frames)}


def capabilities_at(stop: CompileTimeStop | None) -> dict[str, bool]:
    """Return the capabilities that depend on the kind of stop; `stop` is None at run time."""
    goes_back = stop is not None and stop.notice.goes_back
    return {"supportsStepBack": goes_back, "supportsRestartFrame": goes_back}


def merged_stopped(body: dict[str, Any], stop: CompileTimeStop | None, table: BreakpointTable) -> dict[str, Any]:
    """Return debugpy's `stopped` body with the adapter's ids and the agent's reason, if any."""
    if stop is None:
        hits = [table.of_debugpy(id) for id in body.pop("hitBreakpointIds", ())]
        ids = [entry.id for entry in hits if entry is not None]
    else:
        notice = stop.notice
        ids = notice.hit_breakpoint_ids
        body.pop("hitBreakpointIds", None)
        body["reason"] = notice.reason
        body["description"] = notice.description or DESCRIPTION
        if notice.text is not None:
            body["text"] = notice.text
        else:
            body.pop("text", None)
    if ids:
        body["hitBreakpointIds"] = ids
    return body


def own_stopped(stop: CompileTimeStop) -> dict[str, Any]:
    """Return a `stopped` body for a thread that waits in the agent's own loop."""
    return merged_stopped({"threadId": stop.notice.thread_id, "allThreadsStopped": False}, stop, BreakpointTable())
