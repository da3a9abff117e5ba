"""An agent without adapter or socket: a script says how each stop goes on, and every stop is written down."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import torch
from dynascope.agent.session.agent import Agent
from dynascope.agent.suspension.interface import Suspension
from dynascope.wire.dap import (
    Breakpoint,
    BreakpointsBody,
    DataBreakpoint,
    EvaluateResult,
    FunctionBreakpoint,
    ScopesBody,
    SourceBreakpoint,
    StackFrame,
    VariablesBody,
)
from dynascope.wire.from_agent import BreakpointChanged, ConsoleOutput, Failure, Reply, Stopping
from dynascope.wire.messages import Granularity, Message, ResumeCommand, StopReason, TravelCommand
from dynascope.wire.to_agent import (
    ConfigurationDone,
    Configure,
    Evaluate,
    ExceptionFilter,
    PrepareTravel,
    Scopes,
    SetBreakpoints,
    SetDataBreakpoints,
    SetExceptionFilters,
    SetFunctionBreakpoints,
    Variables,
)


@dataclass
class Stop:
    """One stop: where, why, and what its innermost frame's locals were."""

    message: Stopping
    locals: dict[str, str] = field(default_factory=dict)

    @property
    def frames(self) -> list[StackFrame]:
        return self.message.frames[: self.message.symbolic_frames]

    @property
    def where(self) -> str:
        """`helper [0/0]:12`"""
        return f"{self.frames[0].name}:{self.frames[0].line}"


class ScriptedSession(Suspension):
    """Hooks Dynamo in this very process. `commands` are taken one per stop, then every stop goes on with `continue`."""

    def __init__(self, commands: Iterable[ResumeCommand | TravelCommand] = (), just_my_code: bool = True) -> None:
        self.commands = list(commands)
        self.stops: list[Stop] = []
        self.outputs: list[ConsoleOutput] = []
        self.changes: list[Breakpoint] = []
        self.at_stop: Callable[[ScriptedSession], None] = lambda session: None
        self.replies: dict[int, Reply | Failure] = {}
        self.agent = Agent(self._take, self)
        self.agent.receive(Configure(id=0, just_my_code=just_my_code))
        self.agent.receive(ConfigurationDone(id=0))

    def _take(self, message: Message) -> None:
        match message:
            case Reply() | Failure():
                self.replies[message.id] = message
            case Stopping():
                self.stops.append(Stop(message))
            case ConsoleOutput():
                self.outputs.append(message)
            case BreakpointChanged():
                self.changes.append(message.breakpoint)

    def wait(self, frames: list[StackFrame], below: types.FrameType | None, reason: StopReason) -> ResumeCommand:
        self.stops[-1].locals = self._locals()
        self.at_stop(self)
        command = self.commands.pop(0) if self.commands else "continue"
        if command in ("stepBack", "reverseContinue", "restartFrame"):
            self.go_back(command)
            return "continue"
        return command

    def go_back(
        self, command: TravelCommand, granularity: Granularity = "line", frame: int = 0, target: int | None = None
    ) -> str | None:
        """Have the thread go back when this stop ends; return why it does not, if so."""
        stop = self.stops[-1]
        ident, frame_id = stop.message.thread_ident, stop.message.frames[frame].id
        message = PrepareTravel(
            id=9, thread_ident=ident, command=command, granularity=granularity, frame_id=frame_id, target_id=target
        )
        self.agent.receive(message)
        reply = self.replies.pop(9)
        return reply.message if isinstance(reply, Failure) else None

    def type(self, expression: str, frame: int = 0) -> str:
        """Return what the debug console answers at this stop, or why it does not."""
        stop = self.stops[-1]
        ident, frame_id = stop.message.thread_ident, stop.message.frames[frame].id
        self.agent.receive(Evaluate(id=10, thread_ident=ident, frame_id=frame_id, expression=expression))
        reply = self.replies.pop(10)
        if isinstance(reply, Failure):
            return reply.message
        return msgspec.json.decode(reply.body, type=EvaluateResult).result

    def post(self, thread_ident: int, job: Callable[[], None]) -> bool:
        job()
        return True

    def ask(self, request: Any, body: Any) -> Any:
        self.agent.receive(request)
        reply = self.replies.pop(request.id)
        return self.body(reply, body)

    def body(self, reply: Reply | Failure, body: Any) -> Any:
        assert isinstance(reply, Reply), reply
        return msgspec.json.decode(reply.body, type=body)

    def _locals(self) -> dict[str, str]:
        ident, frame = self.stops[-1].message.thread_ident, self.stops[-1].frames[0].id
        scopes: ScopesBody = self.ask(Scopes(id=1, thread_ident=ident, frame_id=frame), ScopesBody)
        reference = scopes.scopes[0].variables_reference
        request = Variables(id=2, thread_ident=ident, variables_reference=reference)
        rows: VariablesBody = self.ask(request, VariablesBody)
        return {row.name: row.value for row in rows.variables}

    def break_at(self, path: str | Path, *lines: int | SourceBreakpoint) -> list[Breakpoint]:
        asked = [
            line if isinstance(line, SourceBreakpoint) else SourceBreakpoint(id=number, line=line)
            for number, line in enumerate(lines, 1)
        ]
        body: BreakpointsBody = self.ask(SetBreakpoints(id=3, path=str(path), breakpoints=asked), BreakpointsBody)
        return body.breakpoints

    def break_in(self, *functions: str | FunctionBreakpoint) -> list[Breakpoint]:
        asked = [
            name if isinstance(name, FunctionBreakpoint) else FunctionBreakpoint(id=number, name=name)
            for number, name in enumerate(functions, 100)
        ]
        body: BreakpointsBody = self.ask(SetFunctionBreakpoints(id=4, breakpoints=asked), BreakpointsBody)
        return body.breakpoints

    def watch(self, *data: DataBreakpoint) -> list[Breakpoint]:
        body: BreakpointsBody = self.ask(SetDataBreakpoints(id=5, breakpoints=list(data)), BreakpointsBody)
        return body.breakpoints

    def catch(self, filter_id: str, condition: str | None = None) -> Breakpoint:
        """Switch this exception filter on, and no other."""
        asked = [ExceptionFilter(id=200, filter_id=filter_id, condition=condition)]
        body: BreakpointsBody = self.ask(SetExceptionFilters(id=5, filters=asked), BreakpointsBody)
        return body.breakpoints[0]

    @contextlib.contextmanager
    def attached(self) -> Iterator[ScriptedSession]:
        torch._dynamo.reset()
        self.agent.install()
        try:
            yield self
        finally:
            self.agent.uninstall()
            torch._dynamo.reset()
        assert not [output for output in self.outputs if "dynascope failed" in output.output], self.outputs

    @property
    def places(self) -> list[str]:
        return [stop.where for stop in self.stops]
