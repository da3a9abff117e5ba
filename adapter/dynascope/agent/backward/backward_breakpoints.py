"""The backward's half of a session: files its breakpoints, and makes the debugger of it once Dynamo is there.

Imports no torch itself: a program's torch is not ours to import.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from dynascope.agent.backward.never_hit import NeverHit
from dynascope.agent.backward.runtime.compiled_autograd_switch import CompiledAutograd
from dynascope.agent.backward.table import MODE, BackwardTable, names_backward
from dynascope.agent.breakpoints.breakpoint import Breakpoint
from dynascope.agent.program.import_hooks import when_imported
from dynascope.agent.program.source_lines import lines_with_code
from dynascope.agent.program.user_code import real_path
from dynascope.agent.suspension.interface import Suspension
from dynascope.wire.dap import Breakpoint as BreakpointState
from dynascope.wire.dap import Source, SourceBreakpoint
from dynascope.wire.messages import Message
from dynascope.wire.to_agent import Configure, SetBreakpoints

if TYPE_CHECKING:
    from dynascope.agent.backward.captures.forward_lines import ForwardLines
    from dynascope.agent.backward.debugger import BackwardDebugger, Holder

_AT_NODES = (
    "Stops in the backward, where compiled autograd captures the nodes that this line makes from now on, "
    "outside of code under torch.compile."
)
_NO_CODE = "There is no code on this line or below it."


class BackwardHalf:
    """One per agent; everything but `begin` is called on the channel's thread."""

    def __init__(
        self,
        hold: Holder,
        suspension: Suspension,
        send: Callable[[Message], None],
        step_into_compile: Callable[[], None] = lambda: None,
    ) -> None:
        self._never_hit = NeverHit(send)
        self._make: Callable[[], BackwardDebugger] = lambda: _debugger(
            hold, suspension, send, step_into_compile, self._never_hit.captured
        )
        self._setting = CompiledAutograd(send)
        self._table = BackwardTable()
        self._forward_lines: ForwardLines | None = None
        self._torch_not_yet_imported: Callable[[], None] = lambda: None
        self.debugger: BackwardDebugger | None = None

    def configure(self, settings: Configure) -> None:
        if settings.compiled_autograd is not None:
            self._setting.begin(settings.compiled_autograd)

    def begin(self) -> None:
        """torch._dynamo is imported."""
        self.debugger = self._make()
        self.debugger.table = self._table

    def end(self) -> None:
        self._setting.end()
        self._use(BackwardTable())
        debugger, self.debugger = self.debugger, None
        if debugger is not None:
            debugger.remove()

    def why_never_hit(self) -> list[BreakpointState]:
        """The program is about to end: the states of breakpoints that never stopped in a backward, with the reason."""
        return self._never_hit.at_exit(self._table)

    def take_lines(self, message: SetBreakpoints) -> tuple[SetBreakpoints, list[BreakpointState | None]]:
        """Take the breakpoints with mode `backward` out of a request.

        Returns the request without them, and for each breakpoint of the whole its answer, None if it was not ours.
        """
        path = real_path(message.path)
        answers: list[BreakpointState | None] = []
        made: list[Breakpoint] = []
        for asked in message.breakpoints:
            answer = _line_answer(path, asked) if asked.mode == MODE else None
            answers.append(answer)
            if answer is not None and answer.reason != "failed":
                made.append(Breakpoint(asked, answer.line))
        self._use(self._table.with_file(path, made))
        others = [asked for asked in message.breakpoints if asked.mode != MODE]
        return msgspec.structs.replace(message, breakpoints=others), answers

    def take_names(self, made: Sequence[tuple[str, Breakpoint]]) -> None:
        """Function breakpoints serve both halves."""
        self._use(self._table.with_names(list(made)))

    def _use(self, table: BackwardTable) -> None:
        self._table = table
        if self.debugger is not None:
            self.debugger.table = table
        if self._forward_lines is not None:
            self._forward_lines.want(self._wants_lines())
        elif self._wants_lines():
            # the forward may run long before Dynamo is imported
            self._torch_not_yet_imported()
            self._torch_not_yet_imported = when_imported("torch", self._note_forward_lines)
        else:
            self._torch_not_yet_imported()

    def _wants_lines(self) -> bool:
        """Whether to know where the forward makes its nodes: who stops at a node wants to see what it came from."""
        return self._table.wants_lines or any(names_backward(pattern) for pattern, _ in self._table.names)

    def _note_forward_lines(self) -> None:
        from dynascope.agent.backward.captures.forward_lines import ForwardLines

        self._forward_lines = ForwardLines()
        self._forward_lines.want(self._wants_lines())


def _line_answer(path: str, asked: SourceBreakpoint) -> BreakpointState:
    state = BreakpointState(id=asked.id, verified=True, line=asked.line, message=_AT_NODES, source=Source(path=path))
    problem = None
    try:
        Breakpoint(asked, None)
    except ValueError as error:
        problem = str(error)
    lines = lines_with_code(path)
    line = asked.line if lines is None else lines.line_for(asked.line)
    if line is None:
        problem = problem or _NO_CODE
    if problem is not None or line is None:
        state.verified, state.message, state.reason = False, problem, "failed"
        return state
    if line != asked.line:
        state.line = line
        state.message = f"Line {asked.line} has no code: moved to line {line}. {_AT_NODES}"
    return state


def _debugger(hold: Any, suspension: Suspension, send: Any, step_into_compile: Any, captured: Any) -> BackwardDebugger:
    from dynascope.agent.backward.debugger import BackwardDebugger

    return BackwardDebugger(hold, suspension, send, step_into_compile, captured)
