"""Stops at what Dynamo does: a node enters a graph, or a call of a breakpoint in the program's source is traced.

Runs on the compiling thread, except `use`. Dynamo's method is wrapped only while there is a breakpoint on nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dynascope.agent.breakpoints.hits import Hits, TracedFrame, ids_of
from dynascope.agent.breakpoints.kinds.node_names import NodeTable
from dynascope.agent.events.comptime import ComptimeBreakpointHook, translator_of
from dynascope.agent.events.graphs import NodeEvents
from dynascope.agent.inspection.evaluation.comptime_context import NodeView
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.internals.graph.graph import node_text
from dynascope.agent.internals.graph.node_names import names_of
from dynascope.agent.program.user_code import is_our_code
from dynascope.agent.suspension.stop import Stop
from dynascope.agent.tracing.history.histories import always
from dynascope.agent.tracing.hook import Hook
from dynascope.agent.tracing.seen_events import instructions_at
from dynascope.agent.tracing.thread_state import ThreadState
from dynascope.agent.tracing.time_travel.visit import Visit
from dynascope.wire.messages import Message


class NodeStops:
    """Stop at graph nodes. There is one for each hook."""

    def __init__(self, hook: Hook, send: Callable[[Message], None]) -> None:
        self._hook = hook
        self._hits = Hits(send)
        self._table = NodeTable()
        self._events: NodeEvents | None = None

    def use(self, table: NodeTable) -> None:
        """Replace the breakpoints by these. Any thread."""
        self._table = table
        self._hook.histories.expect_stops(self, None if table.is_empty else always)
        if not table.is_empty and self._events is None:
            self._events = NodeEvents(self._entered, self._hook.failures)
        elif table.is_empty and self._events is not None:
            events, self._events = self._events, None
            events.remove()

    def _entered(self, node: Any) -> None:
        def serve(state: ThreadState, stack: list[Translator]) -> None:
            candidates = self._table.at(node.op, names_of(node))
            if not candidates:
                return
            where = instructions_at(stack)
            seen = state.begin_compile().seen
            candidates = [each for each in candidates if seen.is_new((each.id, node.name, where))]
            context = TracedFrame(stack[0], {"node": lambda shadow: NodeView(node, shadow)})
            hits = self._hits.that_stop(candidates, context, Visit(state))
            if hits:
                text = f"{node_text(node)} enters the graph"
                self._hook.stop(state, stack, Stop("function breakpoint", ids_of(hits), text))

        self._hook.during_instruction(serve)


class ComptimeStops:
    """Stop on the compiling thread. There is one for each hook."""

    def __init__(self, hook: Hook) -> None:
        self._hook = hook
        self._comptime_hook = ComptimeBreakpointHook(self._stop)

    def remove(self) -> None:
        """Remove the hook from Dynamo."""
        self._comptime_hook.remove()

    def breakpoint(self, context: Any) -> None:
        """Stop at a call of `dynascope.breakpoint()`; `context` is Dynamo's `ComptimeContext`."""
        translator = translator_of(context)
        if translator is not None:
            self._stop(translator)

    def _stop(self, translator: Translator) -> None:
        def serve(state: ThreadState, stack: list[Translator]) -> None:
            if not state.begin_compile().seen.is_new(("comptime.breakpoint()", instructions_at(stack))):
                return
            frames = stack[next((i for i, frame in enumerate(stack) if frame is translator), 0) :]
            while len(frames) > 1 and is_our_code(translators.code_of(frames[0]).co_filename):
                frames = frames[1:]
            self._hook.stop(state, frames, Stop("breakpoint"))

        self._hook.during_instruction(serve)
