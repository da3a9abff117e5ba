"""Function breakpoints that name an operator: they stop where its node enters a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from dynascope.agent.breakpoints.kind import Named, NamedKind
from dynascope.agent.breakpoints.kinds import node_names
from dynascope.agent.breakpoints.kinds.node_names import NodeTable
from dynascope.agent.breakpoints.outlook import why_not_stopped
from dynascope.wire.dap import Breakpoint
from dynascope.wire.messages import Message

if TYPE_CHECKING:
    from dynascope.agent.breakpoints.kinds.event_stops import NodeStops
    from dynascope.agent.tracing.hook import Hook


class NodeBreakpoints(NamedKind):
    """Breakpoints on graph nodes. They are set on the channel's thread."""

    def __init__(self, send: Callable[[Message], None]) -> None:
        self._send = send
        self._named: Sequence[Named] = ()
        self._stops: NodeStops | None = None

    def attach(self, hook: Hook) -> None:
        from dynascope.agent.breakpoints.kinds.event_stops import NodeStops

        self._stops = NodeStops(hook, self._send)
        self._stops.use(NodeTable(self._named))

    def detach(self) -> None:
        stops, self._stops = self._stops, None
        if stops is not None:
            stops.use(NodeTable())

    def owns(self, name: str) -> bool:
        return node_names.names_only_nodes(name)

    def message_about(self, name: str) -> str | None:
        return node_names.message_about(name)

    def set_names(self, named: Sequence[Named]) -> None:
        self._named = tuple(named)
        if self._stops is not None:
            self._stops.use(NodeTable(self._named))

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
