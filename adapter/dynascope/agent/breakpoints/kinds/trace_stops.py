"""Stops on compiling threads: checks that the hook asks before lines and instructions, and events of Dynamo."""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dynascope.agent.breakpoints.hits import AgentBreakpoint, Hits, TracedFrame, ids_of
from dynascope.agent.breakpoints.kind import AddressedBreakpoint, Named
from dynascope.agent.breakpoints.kinds.node_names import NodeTable
from dynascope.agent.events.comptime import ComptimeBreakpointHook, translator_of
from dynascope.agent.events.graphs import NodeEvents
from dynascope.agent.inspection.disassembly import Listing, Listings, number_of
from dynascope.agent.inspection.evaluation.comptime_context import NodeView
from dynascope.agent.internals.frames import instructions, resume, translators
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.internals.graph.graph import names_of, node_text
from dynascope.agent.program.functions import is_loaded
from dynascope.agent.program.source_lines import own_lines
from dynascope.agent.program.user_code import is_our_code, real_path
from dynascope.agent.suspension.stops import Stop
from dynascope.agent.tracing.activation import Activation
from dynascope.agent.tracing.first_time import Visit
from dynascope.agent.tracing.history.histories import always
from dynascope.agent.tracing.hook import Hook
from dynascope.agent.tracing.seen_events import instructions_at
from dynascope.agent.tracing.thread_state import ThreadState
from dynascope.wire.breakpoint_texts import names_function_of
from dynascope.wire.messages import Message


class _Stops:
    """The stop check of one kind of breakpoint; `use`, which each kind has, is called on any thread."""

    every_instruction = False

    def __init__(self, hook: Hook, send: Callable[[Message], None]) -> None:
        self._hook = hook
        self._hits = Hits(send)

    def _that_stop(self, state: ThreadState, at: Activation, reached: Sequence[AgentBreakpoint]) -> list[int]:
        """Return the ids of the breakpoints reached by a frame that stop."""
        visit = Visit(state, at_instruction=True)
        return ids_of(self._hits.that_stop(reached, TracedFrame(at.translator), visit)) if reached else []


class LineStops(_Stops):
    """The stop check of line breakpoints."""

    def __init__(
        self, hook: Hook, send: Callable[[Message], None], stops_in: Callable[[types.CodeType, Sequence[int]], None]
    ) -> None:
        """Call `stops_in` with the code and the ids of the breakpoints that stop in it."""
        super().__init__(hook, send)
        self._stops_in = stops_in
        self._table: Mapping[str, Mapping[int, Sequence[AgentBreakpoint]]] = {}

    def use(self, table: Mapping[str, Mapping[int, Sequence[AgentBreakpoint]]]) -> None:
        """Replace the breakpoints by an immutable table: real path → line → breakpoints."""
        self._table = {path: lines for path, lines in table.items() if lines}
        is_needed, is_any_loaded = bool(self._table), lambda: any(map(is_loaded, self._table))
        self._hook.set_check(self, is_needed, is_any_loaded, self._always_stops_at)

    def may_stop_in(self, code: types.CodeType) -> bool:
        lines = self._table.get(real_path(code.co_filename))
        return lines is not None and not own_lines(code).isdisjoint(lines)

    def _always_stops_at(self, path: str, line: int) -> bool:
        breakpoints = self._table.get(real_path(path), {}).get(line, ())
        return any(breakpoint.stops_always for breakpoint in breakpoints)

    def stops_at(self, state: ThreadState, activation: Activation) -> Stop | None:
        if activation.comes_back:
            return None
        lines = self._table.get(real_path(activation.code.co_filename))
        reached = lines.get(activation.line or 0, ()) if lines is not None else ()
        ids = self._that_stop(state, activation, reached)
        if not ids:
            return None
        self._stops_in(activation.code, ids)
        return Stop("breakpoint", ids)


class FunctionStops(_Stops):
    """The stop check of function breakpoints."""

    def __init__(self, hook: Hook, send: Callable[[Message], None], stops_in: Callable[[types.CodeType], None]) -> None:
        """Call `stops_in` with the code in which a breakpoint stops."""
        super().__init__(hook, send)
        self._stops_in = stops_in
        self._named: Sequence[Named] = ()

    def use(self, named: Sequence[Named]) -> None:
        """Replace the breakpoints by these, each with the pattern of its name."""
        self._named = tuple(named)
        self._hook.set_check(self, bool(self._named))

    def may_stop_in(self, code: types.CodeType) -> bool:
        return any(_names(pattern, code) for pattern, _ in self._named)

    def stops_at(self, state: ThreadState, activation: Activation) -> Stop | None:
        if not activation.enters_function or activation.comes_back:
            return None
        reached = [breakpoint for pattern, breakpoint in self._named if _names(pattern, activation.code)]
        ids = self._that_stop(state, activation, reached)
        if not ids:
            return None
        self._stops_in(activation.code)
        return Stop("function breakpoint", ids)


def _names(pattern: str, code: types.CodeType) -> bool:
    return names_function_of(pattern, code.co_qualname, code.co_filename)


class InstructionStops(_Stops):
    """The stop check of instruction breakpoints."""

    every_instruction = True

    def __init__(self, hook: Hook, listings: Listings, send: Callable[[Message], None]) -> None:
        super().__init__(hook, send)
        self._listings = listings
        self._table = _Table(listings, ())

    def use(self, addressed: Sequence[AddressedBreakpoint]) -> None:
        """Replace the breakpoints by these."""
        self._table = _Table(self._listings, addressed)
        self._hook.set_check(self, bool(addressed))

    def may_stop_in(self, code: types.CodeType) -> bool:
        return self._table.are_in(code)

    def stops_at(self, state: ThreadState, activation: Activation) -> Stop | None:
        if not activation.may_stop:
            return None
        ids = self._that_stop(state, activation, self._table.at(activation))
        return Stop("instruction breakpoint", ids) if ids else None


class _Table:
    """All instruction breakpoints at one time. A new table replaces it."""

    def __init__(self, listings: Listings, addressed: Sequence[AddressedBreakpoint]) -> None:
        self._listings = listings
        self._awaited: dict[int, list[tuple[int, AgentBreakpoint]]] = {}
        self._at: dict[int, tuple[Listing, dict[int, list[AgentBreakpoint]]]] = {}
        self._resumed: dict[int, tuple[weakref.ref[types.CodeType], dict[int, int]]] = {}
        for row in addressed:
            if isinstance(row.code, int):
                self._awaited.setdefault(row.code, []).append((row.index, row.breakpoint))
            else:
                self._add(row.code, row.index, row.breakpoint)

    def _add(self, listing: Listing, index: int, breakpoint: AgentBreakpoint) -> None:
        at = self._at.setdefault(listing.code_id, (listing, {}))[1]
        at.setdefault(index, []).append(breakpoint)

    def are_in(self, code: types.CodeType) -> bool:
        """Whether a frame of this code may reach a breakpoint."""
        if self._in(code) is not None or self._in(resume.original_code(code)) is not None:
            return True
        return bool(self._awaited) and number_of(code) in self._awaited

    def at(self, activation: Activation) -> Sequence[AgentBreakpoint]:
        """Return the breakpoints at the instruction about to be traced."""
        if self._awaited and (awaited := self._awaited.pop(number_of(activation.code), None)) is not None:
            listing = self._listings.of(activation.translator)
            for at_index, breakpoint in awaited:
                self._add(listing, max(at_index, listing.first_traced()), breakpoint)
        if not self._at:
            return ()
        code, index = activation.code, translators.instruction_index(activation.translator)
        own = self._in(code)
        breakpoints = list(own[1].get(index, ())) if own is not None else []
        if activation.original is not code and (original := self._in(activation.original)) is not None:
            place = self._places(activation, original[0]).get(index)
            if place is not None:
                breakpoints += original[1].get(place, ())
        return breakpoints

    def _in(self, code: types.CodeType) -> tuple[Listing, dict[int, list[AgentBreakpoint]]] | None:
        there = self._at.get(id(code))
        return there if there is not None and there[0].is_of(code) else None

    def _places(self, activation: Activation, original: Listing) -> dict[int, int]:
        entry = self._resumed.get(id(activation.code))
        if entry is None or entry[0]() is not activation.code:
            resumed = instructions.instructions_of(activation.translator)
            places = instructions.places_in_original(resumed, original.instructions)
            entry = self._resumed[id(activation.code)] = weakref.ref(activation.code), places
        return entry[1]


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
