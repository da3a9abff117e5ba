"""Every breakpoint of a session: shared out to what stops at it, and what becomes of each."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dynascope.agent.backward.backward_breakpoints import BackwardHalf
from dynascope.agent.breakpoints.breakpoint import Table
from dynascope.agent.breakpoints.compiled_roots import CompiledRoots
from dynascope.agent.breakpoints.data.data_breakpoints import EventBreakpoints
from dynascope.agent.breakpoints.kinds import instruction_breakpoints
from dynascope.agent.breakpoints.kinds.generated_breakpoints import GeneratedBreakpoints
from dynascope.agent.breakpoints.kinds.line_breakpoints import Verification
from dynascope.agent.breakpoints.kinds.node_names import names_only_nodes
from dynascope.agent.breakpoints.kinds.run_breakpoints import RunBreakpoints
from dynascope.agent.stops.stops import Stops
from dynascope.agent.suspension.interface import Suspension
from dynascope.wire.dap import Breakpoint as BreakpointState
from dynascope.wire.dap import BreakpointsBody
from dynascope.wire.from_agent import BreakpointChanged
from dynascope.wire.messages import Message
from dynascope.wire.to_agent import SetBreakpoints, SetFunctionBreakpoints, SetInstructionBreakpoints

if TYPE_CHECKING:
    from dynascope.agent.tracing.hook import Hook


class AllBreakpoints:
    """Set on the channel's thread; `begin`, `compiled` and `stop_in` are called on compiling threads."""

    def __init__(
        self, send: Callable[[Message], None], suspension: Suspension, stops: Stops, backward: BackwardHalf
    ) -> None:
        """`backward` takes those of the backward: it has a life of its own."""
        self._send = send
        self._stops = stops
        self._backward = backward
        self._suspension = suspension
        self._hook: Hook | None = None
        self._end_backend_calls: Callable[[], None] = lambda: None
        runs_are_debugged = suspension.kind == "pydevd"
        self._roots = CompiledRoots()
        self._of_runs = RunBreakpoints(runs_are_debugged, self._roots)
        self._of_generated = GeneratedBreakpoints(suspension, self._roots, self._changed)
        self._verification = Verification(runs_are_debugged, self._changed)
        self._verification.is_compiling = lambda: self._hook is not None and bool(self._hook.threads.compiling())
        self.stop_in = self._verification.stops
        self._table = Table()
        self.events = EventBreakpoints(send)
        """Those on nodes and on data."""

    def begin(self, hook: Hook) -> None:
        """torch._dynamo is imported and hooked."""
        self._hook = hook
        hook.table = self._table
        self.events.begin(hook)
        self._verification.dynamo_is_there()
        self._of_runs.begin(hook)
        from dynascope.agent.internals.compile.backend_calls import (
            BackendCalls,  # imports torch: not before the program has
        )

        self._end_backend_calls = BackendCalls(self._suspension.backend_begins, self._suspension.backend_ends).remove

    def end(self) -> None:
        """Nothing stops any more; what was put into Dynamo and into the program is taken out."""
        self._end_backend_calls()
        self._of_runs.end()
        self._of_generated.end()
        self._hook = None
        self.events.end()

    def debug_dynamo(self, is_debugged: bool) -> None:
        """Whether debugpy watches the compiler itself."""
        self._verification.compiler_is_debugged = is_debugged

    # ---- what the client sets

    def set_lines(self, message: SetBreakpoints) -> BreakpointsBody:
        others, of_mode = message, []
        for take in (self._of_runs.take, self._of_generated.take, self._backward.take_lines):
            others, answers = take(others)
            of_mode.append(answers)
        path, states, made = self._verification.resolve_lines(others)
        self._use(self._table.with_file(path, made))
        for answers in reversed(of_mode):
            rest = iter(states)
            states = [answer or next(rest) for answer in answers]
        return BreakpointsBody(breakpoints=states)

    def set_functions(self, message: SetFunctionBreakpoints) -> BreakpointsBody:
        states, made = self._verification.resolve_functions(message)
        self.events.take_functions(made)
        self._backward.take_names([(name, each) for name, each in made if not names_only_nodes(name)])
        self._use(self._table.with_functions(made))
        return BreakpointsBody(breakpoints=states)

    def set_instructions(self, message: SetInstructionBreakpoints) -> BreakpointsBody:
        states, instructions = instruction_breakpoints.resolve(self._stops.listings, message.breakpoints)
        self._use(self._table.with_instructions(instructions))
        return BreakpointsBody(breakpoints=states)

    def _use(self, table: Table) -> None:
        self._table = table
        if self._hook is not None:
            self._hook.table = table
            self._hook.watching.watch_again()

    # ---- what becomes of them

    def compiled(self, traced: list[types.CodeType], skipped: Sequence[tuple[types.CodeType, str]]) -> None:
        """An outermost compile is over: the code it traced, and frames that Dynamo skipped, with its reasons."""
        self._verification.compiled(traced, skipped)
        if traced:
            self.events.compiled(traced)
            self._roots.note(traced)
            self._of_runs.compiled(traced)
            self._of_generated.compiled(traced)

    def explain_at_exit(self) -> None:
        """The program is about to end: say why breakpoints were never hit."""
        reasons = self._verification.why_never_hit() + self.events.why_never_hit() + self._backward.why_never_hit()
        for state in reasons:
            self._changed(state)

    def _changed(self, state: BreakpointState) -> None:
        self._send(BreakpointChanged(breakpoint=state))
