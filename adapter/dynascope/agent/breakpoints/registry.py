"""Every breakpoint of a session: client requests go to its kind, compile results to all; and kinds without a client."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from dynascope.agent.breakpoints import hits
from dynascope.agent.breakpoints.kind import BreakpointKind, LineKind
from dynascope.agent.breakpoints.kinds.line_breakpoints import LineBreakpoints
from dynascope.agent.breakpoints.traced_functions import CompiledRoots, TracedFunctions
from dynascope.agent.program.user_code import real_path
from dynascope.agent.suspension.interface import Suspension
from dynascope.wire.dap import Breakpoint
from dynascope.wire.from_agent import BreakpointChanged
from dynascope.wire.messages import Message
from dynascope.wire.to_agent import SetBreakpoints

if TYPE_CHECKING:
    from dynascope.agent.breakpoints.kinds.trace_stops import ComptimeStops
    from dynascope.agent.tracing.hook import Hook
    from dynascope.agent.tracing.stop_check import CompileOutcome


class ComptimeBreakpoints(BreakpointKind):
    """Breakpoints in the program's source, which the client does not set."""

    def __init__(self) -> None:
        self._stops: ComptimeStops | None = None

    def attach(self, hook: Hook) -> None:
        from dynascope.agent.breakpoints.kinds.trace_stops import ComptimeStops

        self._stops = ComptimeStops(hook)

    def detach(self) -> None:
        stops, self._stops = self._stops, None
        if stops is not None:
            stops.remove()

    def reached(self, context: Any) -> None:
        """Stop at `dynascope.breakpoint()`. Takes Dynamo's `ComptimeContext`; compiling thread."""
        if self._stops is not None:
            self._stops.breakpoint(context)


class CalledFunctions(BreakpointKind):
    """Enable debugpy's tracing, which is off while Dynamo compiles, during such calls."""

    def __init__(self, suspension: Suspension) -> None:
        self._suspension = suspension
        self._remove: Callable[[], None] = lambda: None

    def attach(self, hook: Hook) -> None:
        if self._suspension.kind != "pydevd":
            return
        from dynascope.agent.events.program_calls import ProgramCalls

        def begins(files: Iterable[str]) -> Any:
            return None if hook.traces_again() else self._suspension.call_begins(files)

        def ends(token: Any) -> None:
            self._suspension.call_ends(token)
            hook.continue_runtime_step()

        self._remove = ProgramCalls(begins, ends, hook.failures).remove

    def detach(self) -> None:
        remove, self._remove = self._remove, lambda: None
        remove()


class BreakpointKinds:
    """The kinds of breakpoints, and what they share: functions traced and code compiled."""

    def __init__(self, send: Callable[[Message], None]) -> None:
        hits.begin_session()
        self._send = send
        self.traced = TracedFunctions()
        self.roots = CompiledRoots()
        self._kinds: Sequence[BreakpointKind] = ()
        self._by_mode: dict[str, LineKind] = {}

    def add_kinds(self, kinds: Sequence[BreakpointKind]) -> None:
        """Serve these kinds. Each mode belongs to one of the kinds on lines."""
        self._kinds = kinds
        self._by_mode = {kind.mode: kind for kind in kinds if isinstance(kind, LineKind)}

    def set_lines(self, message: SetBreakpoints) -> list[Breakpoint]:
        """Make these the breakpoints of one file; return the state of each."""
        path = real_path(message.path)
        states: dict[int, Breakpoint] = {}
        modes = {
            each.id: each.mode if each.mode in self._by_mode else LineBreakpoints.mode for each in message.breakpoints
        }
        for mode, kind in self._by_mode.items():
            asked = [request for request in message.breakpoints if modes[request.id] == mode]
            states_of_kind, placed = kind.placed(path, asked)
            kind.use(path, placed)
            states |= {state.id: state for state in states_of_kind}
        return [states[request.id] for request in message.breakpoints]

    def attach(self, hook: Hook) -> None:
        """Attach every kind. torch._dynamo is imported and hooked."""
        self.traced.loaded.attach(hook)
        for kind in self._kinds:
            kind.attach(hook)

    def detach(self) -> None:
        """Detach every kind: nothing stops, and Dynamo and the program are unhooked. Any thread."""
        for kind in reversed(self._kinds):
            kind.detach()
        self.traced.loaded.detach()

    def compile_ended(self, outcome: CompileOutcome) -> None:
        """Handle the end of an outermost compile. Called on its thread."""
        self.traced.note(outcome)
        if outcome.traced:
            self.roots.note(outcome.traced)
        for kind in self._kinds:
            kind.compile_ended(outcome)

    def tell_never_hit(self) -> None:
        """Tell the client why breakpoints were never hit: the program is about to exit."""
        for kind in self._kinds:
            for state in kind.never_hit():
                told = msgspec.structs.replace(state, message=f"Never hit. {state.message}")
                self._send(BreakpointChanged(breakpoint=told, never_hit=True, compiled=self.traced.has_compiled))

    def changed(self, state: Breakpoint) -> None:
        """Tell the client that the state of a breakpoint has changed. Any thread."""
        self._send(BreakpointChanged(breakpoint=state))
