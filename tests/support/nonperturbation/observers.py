"""Who looks on while a program compiles: nobody, the agent at every line reading everything, or somebody naive."""

from __future__ import annotations

import contextlib
import threading
import types
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from dynascope.agent.session.agent import Agent
from dynascope.agent.suspension.interface import Suspension
from dynascope.wire.beyond_dap import FormattedStackBody
from dynascope.wire.dap import (
    BreakpointsBody,
    DisassembleBody,
    EvaluateResult,
    InstructionBreakpoint,
    LocationsBody,
    ScopesBody,
    SourceBody,
    StackFrame,
    StepInTargetsBody,
    VariablesBody,
)
from dynascope.wire.from_agent import ConsoleOutput, Failure, Reply, Stopping
from dynascope.wire.messages import Message, ResumeCommand, StopReason
from dynascope.wire.to_agent import (
    ConfigurationDone,
    Configure,
    Disassemble,
    Evaluate,
    FindStepInTargets,
    FormatStack,
    Locations,
    PrepareStep,
    Scopes,
    SetInstructionBreakpoints,
    SourceText,
    Variables,
)

EXPRESSIONS = (
    *("{0}.shape[0] > 8", "len({0})", "({0} * 2).sum()", "{0}.dtype", "ctx.get_local({0!r})", "[{0}, {0}]"),
    *("type({0}), isinstance({0}, torch.nn.Parameter)", "{0}.grad_fn, {0}.is_leaf, {0}.grad", "list({0})", "next({0})"),
    *("locals(), globals().keys()", "__class__, super().__init__", "torch._dynamo.reset()", "breakpoint()"),
)


class Everywhere(Suspension):
    """Stops at every line of every frame, library or not, and calls `inspect_stop` there."""

    def __init__(self, inspect_stop: Callable[[Everywhere], None]) -> None:
        self._look = inspect_stop
        self.stops = 0
        self.frames: list[StackFrame] = []
        self.complaints: list[str] = []
        self.refusal = ""
        """Why the last request was refused."""
        self._replies: dict[int, Reply | Failure] = {}
        self.agent = Agent(self._receive, self)

    def _receive(self, message: Message) -> None:
        if isinstance(message, (Reply, Failure)):
            self._replies[message.id] = message
        elif isinstance(message, Stopping):
            self.frames = message.frames[: message.symbolic_frames]
        elif isinstance(message, ConsoleOutput):
            self.complaints.append(message.output)

    def wait(self, frames: list[StackFrame], below: types.FrameType | None, reason: StopReason) -> ResumeCommand:
        self.stops += 1
        try:
            self._look(self)
        except Exception as error:
            self.complaints.append(f"{type(error).__name__}: {error}")
        return "stepIn"

    def post(self, thread_ident: int, job: Callable[[], None]) -> bool:
        job()
        return True

    def ask(self, request: Any, body: Any) -> Any:
        """Send a request as the adapter would; the decoded body, or None when it failed."""
        self.agent.receive(request)
        reply = self._replies.pop(request.id)
        self.refusal = reply.message if isinstance(reply, Failure) else ""
        return msgspec.json.decode(reply.body, type=body) if isinstance(reply, Reply) else None

    @contextlib.contextmanager
    def inspecting(self) -> Iterator[Everywhere]:
        self.agent.receive(Configure(id=0, just_my_code=False, stop_on_entry=True))
        self.agent.receive(ConfigurationDone(id=0))
        self.agent.install()
        try:
            yield self
        finally:
            self.agent.uninstall()


def read_everything(session: Everywhere) -> None:
    """Parameters of all frames, every scope of the innermost and two levels below, callers' locals, evaluations.

    Now and then all that torch keeps of the compile is opened, too, and guards with all that is known of them.
    """
    here = threading.get_ident()
    if session.ask(FormatStack(id=6, thread_ident=here), FormattedStackBody) is None:
        raise AssertionError("the parameters of the frames could not be read")
    for frame in session.frames:
        scopes = session.ask(Scopes(id=1, thread_ident=here, frame_id=frame.id), ScopesBody).scopes
        innermost = frame is session.frames[0]
        for scope in scopes if innermost else scopes[:1]:
            rows = _children(session, here, scope.variables_reference)
            if scope.name == "Codegen":
                for row in rows:
                    _descend(session, here, row.variables_reference, 3)
            for row in rows if innermost and scope.name in ("Locals", "Closure", "Globals", "Value Stack") else ():
                if row.variables_reference:
                    _children(session, here, row.variables_reference)
            if innermost and session.stops % 32 == 1 and scope.name in ("Guards", "Shapes", "Compile"):
                _read_below(session, here, rows[-16:])
            if innermost and session.stops % 8 == 1 and scope.source is not None:
                _read_graph(session, scope.source.source_reference or 0)
            for row in rows[-3:] if innermost else ():
                for reference in (row.declaration_location_reference, row.value_location_reference):
                    if reference is not None:
                        wanted = Locations(id=5, thread_ident=here, location_reference=reference)
                        session.ask(wanted, LocationsBody)
            if innermost and scope.name == "Locals":
                _evaluate(session, here, frame.id, [row.name for row in rows])


def go_by_instructions(session: Everywhere) -> None:
    """Step by instructions, list each function, stop at one of its instructions, ask for the calls to step into."""
    here, frame = threading.get_ident(), session.frames[0]
    pointer = str(frame.instruction_pointer_reference)
    body = session.ask(Disassemble(id=4, memory_reference=pointer, instruction_count=20), DisassembleBody)
    wanted = [InstructionBreakpoint(id=1, instruction_reference=body.instructions[session.stops % 20].address)]
    session.ask(SetInstructionBreakpoints(id=5, breakpoints=wanted), BreakpointsBody)
    if session.ask(FindStepInTargets(id=6, thread_ident=here, frame_id=frame.id), StepInTargetsBody) is None:
        raise AssertionError("the calls of a line could not be listed")
    session.ask(PrepareStep(id=7, thread_ident=here, granularity="instruction"), dict)


def _read_graph(session: Everywhere, reference: int) -> None:
    """The graph so far, and what earlier compiles have left."""
    body = session.ask(SourceText(id=4, source_reference=reference), SourceBody)
    if body is None or "def forward" not in body.content:
        raise AssertionError("the graph so far could not be read")
    for source in session.agent.session.loaded_sources.sources()[:4]:
        session.ask(SourceText(id=4, source_reference=source.source_reference or 0), SourceBody)


def _children(session: Everywhere, here: int, reference: int) -> list[Any]:
    body = session.ask(Variables(id=2, thread_ident=here, variables_reference=reference, count=100), VariablesBody)
    if body is None:
        raise AssertionError("a page of variables could not be read")
    rows: list[Any] = body.variables
    return rows


def _descend(session: Everywhere, here: int, reference: int, levels: int) -> None:
    for row in _children(session, here, reference) if reference and levels else ():
        _descend(session, here, row.variables_reference, levels - 1)


def _read_below(session: Everywhere, here: int, rows: list[Any]) -> None:
    """What is below these rows, and below that: a hundred of them, the nearest first."""
    waiting = deque(row for row in rows if row.variables_reference)
    for _ in range(100):
        if not waiting:
            break
        inside = _children(session, here, waiting.popleft().variables_reference)
        waiting.extend(row for row in inside if row.variables_reference)


def _evaluate(session: Everywhere, here: int, frame_id: int, names: list[str]) -> None:
    def evaluate(expression: str) -> None:
        session.ask(Evaluate(id=3, thread_ident=here, frame_id=frame_id, expression=expression), EvaluateResult)

    for name in names if session.stops % 4 == 1 else ():  # the same rows as in Locals, reached by name
        evaluate(name)
    if names:  # one calculation a stop, another one at each
        turn = session.stops
        evaluate(EXPRESSIONS[turn % len(EXPRESSIONS)].format(names[turn // len(EXPRESSIONS) % len(names)]))
    if session.stops % 50 == 1:
        evaluate("ctx.print_locals()")
        evaluate("ctx.print_graph()")


def inspect_naively(_session: Everywhere) -> None:
    """What one would write first, and what perturbs: `isinstance`, `python_type`, `debug_repr`."""
    from torch._dynamo.symbolic_convert import InstructionTranslator
    from torch._dynamo.variables import TensorVariable

    translator = InstructionTranslator.current_tx().output._current_tx[-1]
    for variable in list(translator.symbolic_locals.values()):
        isinstance(variable, TensorVariable)
        for read in (lambda v: v.python_type(), lambda v: v.debug_repr()):
            with contextlib.suppress(Exception):
                read(variable)
