"""Function breakpoints: they stop at the first line of each call of a function, or where a node enters a graph."""

from __future__ import annotations

import threading
import types
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from dynascope.agent.breakpoints import hits
from dynascope.agent.breakpoints.hits import AgentBreakpoint
from dynascope.agent.breakpoints.kind import BreakpointKind, Named, NamedKind, refused
from dynascope.agent.breakpoints.kinds import node_names
from dynascope.agent.breakpoints.outlook import why_name_never_met, why_not_stopped
from dynascope.agent.breakpoints.traced_functions import TracedFunctions
from dynascope.agent.program.functions import FunctionKey
from dynascope.agent.suspension.interface import Suspension
from dynascope.explain.breakpoints import NO_FUNCTION_YET
from dynascope.wire.breakpoint_texts import names_function_of
from dynascope.wire.dap import Breakpoint, FunctionBreakpoint
from dynascope.wire.messages import Message

if TYPE_CHECKING:
    from dynascope.agent.breakpoints.kinds.trace_stops import FunctionStops, NodeStops
    from dynascope.agent.tracing.hook import Hook
    from dynascope.agent.tracing.stop_check import CompileOutcome


class FunctionBreakpoints(BreakpointKind):
    """Set on the channel's thread, updated on compiling threads; `changed` is called on either."""

    def __init__(
        self,
        suspension: Suspension,
        traced: TracedFunctions,
        others: Sequence[NamedKind],
        send: Callable[[Message], None],
        changed: Callable[[Breakpoint], None],
    ) -> None:
        """Pass the names also to `others`, the kinds that a name may mean besides functions."""
        self._suspension = suspension
        self._runs_are_debugged = suspension.kind == "pydevd"
        self._traced = traced
        self._others = others
        self._send = send
        self._changed = changed
        self._lock = threading.Lock()
        self._rows: list[tuple[FunctionBreakpoint, AgentBreakpoint, Breakpoint]] = []
        self._stops: FunctionStops | None = None

    def attach(self, hook: Hook) -> None:
        from dynascope.agent.breakpoints.kinds.trace_stops import FunctionStops

        self._stops = FunctionStops(hook, self._send, self._note_stop)
        self._use()

    def detach(self) -> None:
        self._stops = None

    def set(self, asked: Sequence[FunctionBreakpoint]) -> list[Breakpoint]:
        """Make these the function breakpoints; return the state of each."""
        states: list[Breakpoint] = []
        rows: list[tuple[FunctionBreakpoint, AgentBreakpoint, Breakpoint]] = []
        functions = self._traced.functions()
        for request in asked:
            try:
                rows.append((request, hits.at_work(request, None), self._state(request, functions)))
                states.append(rows[-1][2])
            except ValueError as error:
                states.append(refused(request.id, str(error)))
        with self._lock:
            self._rows = rows
        for kind in self._others:
            foreign = [other for other in self._others if other is not kind]
            kind.set_names([(o.name, b) for o, b, _ in rows if not any(other.owns(o.name) for other in foreign)])
        self._use()
        return states

    def _use(self) -> None:
        if self._stops is not None:
            self._stops.use([(asked.name, breakpoint) for asked, breakpoint, _ in self._rows])

    def _state(self, asked: FunctionBreakpoint, traced: Iterable[FunctionKey]) -> Breakpoint:
        state = Breakpoint(id=asked.id, verified=True)
        abouts = [(kind.owns(asked.name), about) for kind in self._others if (about := kind.message_about(asked.name))]
        owned = next((about for owns, about in abouts if owns), None)
        if owned is not None:
            state.message = owned
        elif not any(names_function_of(asked.name, each.name, each.path) for each in traced):
            state.message = abouts[0][1] if abouts else NO_FUNCTION_YET
            state.verified, state.reason = bool(abouts), None if abouts else "pending"
        state.message = hits.with_what_counts(state.message, asked, self._runs_are_debugged)
        return state

    def compile_ended(self, outcome: CompileOutcome) -> None:
        self._refresh()

    def _note_stop(self, code: types.CodeType) -> None:
        if self._traced.note_stop_in(code):
            self._refresh()

    def _refresh(self) -> None:
        with self._lock:
            functions = self._traced.functions() if self._rows else set()
            rows = [(asked, breakpoint, self._state(asked, functions)) for asked, breakpoint, _ in self._rows]
            changes = [after[2] for before, after in zip(self._rows, rows, strict=True) if before[2] != after[2]]
            self._rows = rows
        for state in changes:
            self._changed(state)

    def never_hit(self) -> Iterable[Breakpoint]:
        with self._lock:
            return [
                msgspec.structs.replace(state, message=why)
                for asked, breakpoint, state in self._rows
                if not any(kind.owns(asked.name) for kind in self._others)
                and not breakpoint.has_stopped
                and (
                    why := why_not_stopped(breakpoint)
                    if breakpoint.reached
                    else why_name_never_met(breakpoint, self._runs_are_debugged, self._suspension.just_my_code)
                )
            ]


class NodeBreakpoints(NamedKind):
    """Breakpoints on graph nodes. They are set on the channel's thread."""

    def __init__(self, send: Callable[[Message], None]) -> None:
        self._send = send
        self._named: Sequence[Named] = ()
        self._stops: NodeStops | None = None

    def attach(self, hook: Hook) -> None:
        from dynascope.agent.breakpoints.kinds.trace_stops import NodeStops

        self._stops = NodeStops(hook, self._send)
        self._stops.use(node_names.NodeTable(self._named))

    def detach(self) -> None:
        stops, self._stops = self._stops, None
        if stops is not None:
            stops.use(node_names.NodeTable())

    def owns(self, name: str) -> bool:
        return node_names.names_only_nodes(name)

    def message_about(self, name: str) -> str | None:
        return node_names.message_about(name)

    def set_names(self, named: Sequence[Named]) -> None:
        self._named = tuple(named)
        if self._stops is not None:
            self._stops.use(node_names.NodeTable(self._named))

    def never_hit(self) -> Iterable[Breakpoint]:
        for name, breakpoint in self._named:
            if self.owns(name) and not breakpoint.has_stopped:
                why = why_not_stopped(breakpoint) if breakpoint.reached else _never_entered(name)
                if why is not None:
                    yield Breakpoint(id=breakpoint.id, verified=True, message=why)


def _never_entered(name: str) -> str:
    kind, _, target = name.strip().partition(" ")
    if kind in node_names.OPS:
        return f"No {kind} node{f' of {target.strip()}' if target else ''} entered a graph."
    return f"No node that calls {name.strip()} entered a graph."
