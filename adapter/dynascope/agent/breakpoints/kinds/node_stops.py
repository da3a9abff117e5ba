"""Where function breakpoints that name an operator stop: told of each node that enters a graph of Dynamo's.

Runs on the compiling thread, but for `use`. Dynamo's method is wrapped only while there is such a breakpoint.
"""

from __future__ import annotations

from typing import Any

from dynascope.agent.breakpoints.hits import Hits
from dynascope.agent.breakpoints.kinds.node_names import NodeTable
from dynascope.agent.inspection.evaluation.node_view import NodeView
from dynascope.agent.internals.frames.translators import Translator, code_of, instruction_index
from dynascope.agent.internals.graph.graph import node_text
from dynascope.agent.internals.graph.node_events import NodeEvents, names_of
from dynascope.agent.tracing.hook import Hook
from dynascope.agent.tracing.thread_state import ThreadTracing


class NodeStops:
    """One per hook."""

    def __init__(self, hook: Hook, hits: Hits) -> None:
        self._hook = hook
        self._hits = hits
        self._table = NodeTable()
        self._events: NodeEvents | None = None

    def use(self, table: NodeTable) -> None:
        """These are the breakpoints now; from any thread."""
        self._table = table
        if not table.is_empty and self._events is None:
            self._events = NodeEvents(self._entered)
        elif table.is_empty and self._events is not None:
            events, self._events = self._events, None
            events.remove()

    def _entered(self, node: Any) -> None:
        def serve(state: ThreadTracing, stack: list[Translator]) -> None:
            wanted = self._table.at(node.op, names_of(node))
            if not wanted:
                return
            where = tuple((code_of(frame), instruction_index(frame)) for frame in stack)
            if not state.moments.is_new((node.name, where)):
                return
            hits = self._hits.amid(wanted, stack[0], {"node": lambda shadow: NodeView(node, shadow)})
            if hits:
                text = f"{node_text(node)} enters the graph"
                self._hook.hold(state, stack, "function breakpoint", [hit.id for hit in hits], text)

        self._hook.amid(serve)
