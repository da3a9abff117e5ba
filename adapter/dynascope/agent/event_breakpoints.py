"""Breakpoints on what happens while Dynamo traces, wherever that is: nodes that enter a graph, and data breakpoints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dynascope.agent.backward.half import names_backward
from dynascope.agent.breakpoints import Breakpoint
from dynascope.agent.data_breakpoints.watch import Watches, resolve
from dynascope.agent.node_breakpoints import NodeTable
from dynascope.wire.dap import BreakpointsBody, DataBreakpointInfo
from dynascope.wire.messages import Message
from dynascope.wire.to_agent import FindDataBreakpoint, SetDataBreakpoints

if TYPE_CHECKING:
    from dynascope.agent.data_breakpoints.stops import DataStops
    from dynascope.agent.hook import Hook
    from dynascope.agent.node_stops import NodeStops


class EventBreakpoints:
    """One per agent; on the channel's thread, but for `begin`. Files what is asked until torch._dynamo is there."""

    def __init__(self, send: Callable[[Message], None]) -> None:
        self._send = send
        self._nodes = NodeTable()
        self._watches = Watches()
        self._stops: tuple[NodeStops, DataStops] | None = None

    def begin(self, hook: Hook) -> None:
        """torch._dynamo is imported and hooked."""
        from dynascope.agent.data_breakpoints.stops import DataStops
        from dynascope.agent.hits import Hits
        from dynascope.agent.node_stops import NodeStops

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
        states, self._watches = resolve(request.breakpoints)
        self._use()
        return BreakpointsBody(breakpoints=states)

    def find(self, request: FindDataBreakpoint) -> DataBreakpointInfo:
        """What a name that was said at no stop could be watched for."""
        from dynascope.agent.data_breakpoints import names

        return names.info(request.name)

    def _use(self) -> None:
        if self._stops is not None:
            nodes, data = self._stops
            nodes.use(self._nodes)
            data.use(self._watches)
