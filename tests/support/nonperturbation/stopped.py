"""A function stopped while Dynamo traces its line marked `#: stop`, and what a client would see there."""

from __future__ import annotations

import contextlib
import inspect
import threading
import types
from collections.abc import Callable
from typing import Any

import msgspec
import torch
from dynascope.agent.session.agent import Agent
from dynascope.agent.suspension.interface import Suspension
from dynascope.wire.beyond_dap import FormattedStackBody, Parameter
from dynascope.wire.dap import (
    EvaluateResult,
    LocationsBody,
    Scope,
    ScopesBody,
    SourceBreakpoint,
    StackFrame,
    Variable,
    VariablesBody,
)
from dynascope.wire.from_agent import Failure, Reply, Stopping
from dynascope.wire.messages import Message, ResumeCommand, StopReason
from dynascope.wire.to_agent import (
    ConfigurationDone,
    Configure,
    Evaluate,
    FormatStack,
    Locations,
    Scopes,
    SetBreakpoints,
    Variables,
)


class Refused(Exception):
    """The agent answered with a failure; its text is the sentence for the user."""


class Stopped(Suspension):
    """One stop seen through the agent's own messages; `inspect_stop` is called with it at each."""

    def __init__(self, inspect_stop: Callable[[Stopped], None]) -> None:
        self._look = inspect_stop
        self._error: BaseException | None = None
        self._reply: Reply | Failure | None = None
        self.frames: list[StackFrame] = []
        self.stops = 0
        self.agent = Agent(self._receive, self)
        self.agent.receive(Configure(id=0))
        self.agent.receive(ConfigurationDone(id=0))

    def _receive(self, message: Message) -> None:
        if isinstance(message, (Reply, Failure)):
            self._reply = message
        elif isinstance(message, Stopping):
            self.frames = message.frames

    def wait(self, frames: list[StackFrame], below: types.FrameType | None, reason: StopReason) -> ResumeCommand:
        self.stops += 1
        try:
            self._look(self)
        except BaseException as error:  # raised again by `stop_in`: in the hook it would be contained
            self._error = self._error or error
        return "continue"

    def post(self, thread_ident: int, job: Callable[[], None]) -> bool:
        job()
        return True

    def raise_what_failed(self) -> None:
        if self._error is not None:
            raise self._error

    # ---- what a client asks

    def _ask(self, request: Any, body: Any) -> Any:
        self.agent.receive(request)
        reply = self._reply
        if isinstance(reply, Failure):
            raise Refused(reply.message)
        assert reply is not None
        return msgspec.json.decode(reply.body, type=body)

    def scopes(self, frame: int = 0) -> list[Scope]:
        request = Scopes(id=1, thread_ident=threading.get_ident(), frame_id=self.frames[frame].id)
        scopes: list[Scope] = self._ask(request, ScopesBody).scopes
        return scopes

    def parameters(self, frame: int = 0) -> list[Parameter] | None:
        """What the frame's name in the call stack would have in parentheses."""
        request = FormatStack(id=4, thread_ident=threading.get_ident())
        found: list[list[Parameter] | None] = self._ask(request, FormattedStackBody).parameters
        return found[frame]

    def rows(self, reference: int, **page: Any) -> list[Variable]:
        request = Variables(id=2, thread_ident=threading.get_ident(), variables_reference=reference, **page)
        variables: list[Variable] = self._ask(request, VariablesBody).variables
        return variables

    def scope(self, name: str, frame: int = 0, **page: Any) -> dict[str, Variable]:
        found = next(scope for scope in self.scopes(frame) if scope.name == name)
        return {row.name: row for row in self.rows(found.variables_reference, **page)}

    def below(self, row: Variable | EvaluateResult, **page: Any) -> dict[str, Variable]:
        return {child.name: child for child in self.rows(row.variables_reference, **page)}

    def location(self, reference: int | None) -> LocationsBody:
        """Where a row leads to."""
        assert reference is not None
        request = Locations(id=5, thread_ident=threading.get_ident(), location_reference=reference)
        body: LocationsBody = self._ask(request, LocationsBody)
        return body

    def evaluate(self, expression: str, context: str = "repl", frame: int = 0, **more: Any) -> EvaluateResult:
        request = Evaluate(
            id=3,
            thread_ident=threading.get_ident(),
            frame_id=self.frames[frame].id,
            expression=expression,
            context=context,
            **more,
        )
        result: EvaluateResult = self._ask(request, EvaluateResult)
        return result


def stop_in(
    function: Any,
    *arguments: Any,
    inspect_stop: Callable[[Stopped], None],
    times: int = 1,
    then: Callable[[Any], Any] = lambda compiled: None,
    **options: Any,
) -> Any:
    """Compile and call `function`, then call `then`; `inspect_stop` runs where Dynamo traces its `#: stop` line."""
    torch._dynamo.reset()
    target = type(function).forward if isinstance(function, torch.nn.Module) else function
    lines, first = inspect.getsourcelines(target)
    line = next(first + i for i, text in enumerate(lines) if "#: stop" in text)
    path = inspect.getsourcefile(target)
    assert path is not None
    session = Stopped(inspect_stop)
    session.agent.install()
    with contextlib.ExitStack() as stack:
        stack.callback(session.agent.uninstall)
        session.agent.receive(SetBreakpoints(id=0, path=path, breakpoints=[SourceBreakpoint(id=1, line=line)]))
        compiled = torch.compile(function, backend="eager", **options)
        result = compiled(*arguments)
        then(compiled)
    session.raise_what_failed()
    assert session.stops == times
    return result
