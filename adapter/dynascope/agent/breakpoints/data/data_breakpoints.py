"""Breakpoints on what happens while Dynamo traces, wherever that is: nodes that enter a graph, and data breakpoints."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from dynascope.agent.backward.table import names_backward
from dynascope.agent.breakpoints.breakpoint import Breakpoint
from dynascope.agent.breakpoints.data.never_hit import why_never_hit
from dynascope.agent.breakpoints.data.watchpoint import Watches, resolve
from dynascope.agent.breakpoints.kinds.node_names import NodeTable
from dynascope.wire.dap import Breakpoint as BreakpointState
from dynascope.wire.dap import BreakpointsBody, DataBreakpointInfo
from dynascope.wire.messages import Message
from dynascope.wire.to_agent import FindDataBreakpoint, SetDataBreakpoints

if TYPE_CHECKING:
    from dynascope.agent.breakpoints.data.watchpoint_stops import DataStops
    from dynascope.agent.breakpoints.kinds.node_stops import NodeStops
    from dynascope.agent.tracing.hook import Hook


class EventBreakpoints:
    """One per agent; on the channel's thread, but for `begin`. Files what is asked until torch._dynamo is there."""

    def __init__(self, send: Callable[[Message], None]) -> None:
        self._send = send
        self._nodes = NodeTable()
        self._watches = Watches()
        self._answers: dict[int, BreakpointState] = {}
        self._stops: tuple[NodeStops, DataStops] | None = None

    def begin(self, hook: Hook) -> None:
        """torch._dynamo is imported and hooked."""
        from dynascope.agent.breakpoints.data.watchpoint_stops import DataStops
        from dynascope.agent.breakpoints.hits import Hits
        from dynascope.agent.breakpoints.kinds.node_stops import NodeStops

        hits = Hits(self._send)
        self._stops = NodeStops(hook, hits), DataStops(hook, hits)
        self._use()

    def end(self) -> None:
        """Take every wrapper of Dynamo's methods out."""
        self._nodes, self._watches = NodeTable(), Watches()
        self._use()
        self._stops = None

    def take_functions(self, made: Sequence[tuple[str, Breakpoint]]) -> None:
        """Function breakpoints may name operators; those that name a part of the backward stop there."""
        self._nodes = NodeTable([(name, each) for name, each in made if not names_backward(name)])
        self._use()

    def take_data(self, request: SetDataBreakpoints) -> BreakpointsBody:
        states, self._watches = resolve(request.breakpoints, self._watches)
        self._answers = {state.id: state for state in states}
        self._use()
        return BreakpointsBody(breakpoints=states)

    def compiled(self, traced: Sequence[types.CodeType]) -> None:
        """On the compiling thread: an outermost compile is over."""
        if self._stops is not None:
            self._stops[1].compiled(traced)

    def why_never_hit(self) -> list[BreakpointState]:
        """The program is about to end: the states of data breakpoints that never stopped here, with the reason."""
        return [
            msgspec.structs.replace(self._answers[watch.id], message=message)
            for watch in self._watches
            if (message := why_never_hit(watch)) is not None
        ]

    def find(self, request: FindDataBreakpoint) -> DataBreakpointInfo:
        """What a name that was said at no stop could be watched for."""
        from dynascope.agent.breakpoints.data import info as names

        return names.info(request.name)

    def _use(self) -> None:
        if self._stops is not None:
            nodes, data = self._stops
            nodes.use(self._nodes)
            data.use(self._watches)
