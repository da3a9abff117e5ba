"""Stops of data breakpoints: at guards, nodes, symbols, mutations and changed values.

Runs on the compiling thread, except `use`. Dynamo is wrapped only while a breakpoint needs it.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from dynascope.agent.breakpoints.conditions import AddedNames
from dynascope.agent.breakpoints.data.data_id import Watchpoint
from dynascope.agent.breakpoints.data.watched_value import Seen, Subject, find
from dynascope.agent.breakpoints.hits import Hits, TracedFrame
from dynascope.agent.events.facts import SymbolEvent, SymbolEvents
from dynascope.agent.events.frames import MutationEvents
from dynascope.agent.events.graphs import NodeEvents
from dynascope.agent.events.guards import GuardEvents
from dynascope.agent.events.wrapping import Events
from dynascope.agent.inspection.evaluation.comptime_context import NodeView
from dynascope.agent.internals.frames.translators import Translator, active_translators, code_of, line_of, output_of
from dynascope.agent.internals.graph.graph import input_expression, input_nodes, node_text
from dynascope.agent.internals.guards.guards import as_written
from dynascope.agent.internals.symbolic_shapes.shapes import SymbolFact, symbols_so_far
from dynascope.agent.internals.variables.variables import source_of, without_lazy
from dynascope.agent.program.user_code import is_user_code, real_path
from dynascope.agent.suspension.stops import Stop
from dynascope.agent.tracing.activation import Activation
from dynascope.agent.tracing.first_time import Visit
from dynascope.agent.tracing.hook import Hook
from dynascope.agent.tracing.seen_events import instructions_at
from dynascope.agent.tracing.stop_check import CompileOutcome, TraceObserver
from dynascope.agent.tracing.thread_state import ThreadState
from dynascope.facts.file_names import short_name
from dynascope.wire.messages import Message

Hit = tuple[Watchpoint, Translator, str]
"""A breakpoint, the frame its condition is evaluated in, and the event in a text for the user."""


class WatchpointStops(TraceObserver):
    """Stop at watched values. There is one for each hook; it keeps nothing of a trace."""

    every_instruction = True

    def __init__(self, hook: Hook, send: Callable[[Message], None]) -> None:
        self._hook = hook
        self._hits = Hits(send)
        self._watchpoints: tuple[Watchpoint, ...] = ()
        self._events: dict[str, Events] = {}
        hook.compiles.observe(self)

    # ---- any thread

    def use(self, watchpoints: tuple[Watchpoint, ...]) -> None:
        """Replace the data breakpoints by these."""
        self._watchpoints = watchpoints
        failures, reads, writes = self._hook.failures, any(each.reads for each in watchpoints), self._any_writes
        self._install("guards", reads, lambda: GuardEvents(self._guard_installed, failures))
        self._install("nodes", reads, lambda: NodeEvents(self._node_entered, failures))
        self._install("symbols", writes, lambda: SymbolEvents(self._symbol_decided, failures))
        self._install("mutations", writes, lambda: MutationEvents(self._mutated, failures))
        self._hook.set_check(self, any(each.compares for each in watchpoints))

    @property
    def _any_writes(self) -> bool:
        return any(each.writes for each in self._watchpoints)

    def remove(self) -> None:
        """Stop no more."""
        self.use(())
        self._hook.compiles.unobserve(self)

    def _install(self, name: str, is_needed: bool, make: Callable[[], Events]) -> None:
        if is_needed and name not in self._events:
            self._events[name] = make()
        elif not is_needed and name in self._events:
            self._events.pop(name).remove()

    # ---- events of Dynamo

    def _guard_installed(self, source: str, kind: str) -> None:
        if not source:
            return
        written = as_written(source)

        def hits(watchpoint: Watchpoint, stack: Sequence[Translator]) -> str | None:
            if watchpoint.on.kind == "source":
                is_meant = as_written(watchpoint.on.what) == written
            else:
                is_meant = any(written in subject.sources for subject in _subjects(watchpoint, stack))
            return f"guard {kind} on {source} installed" if is_meant else None

        self._happens("reads", hits)

    def _node_entered(self, node: Any) -> None:
        inputs = input_nodes(node)
        if not inputs or node.op == "output":
            return
        sources = {as_written(source) for each in inputs if (source := input_expression(each))}

        def hits(watchpoint: Watchpoint, stack: Sequence[Translator]) -> str | None:
            match watchpoint.on.kind:
                case "node":
                    is_meant = any(each.name == watchpoint.on.what for each in inputs)
                case "source":
                    is_meant = as_written(watchpoint.on.what) in sources
                case _:
                    is_meant = any(
                        any(each is subject.node for each in inputs) or not subject.sources.isdisjoint(sources)
                        for subject in _subjects(watchpoint, stack)
                    )
            return f"{watchpoint.on.what} is an input of {node_text(node)}" if is_meant else None

        self._happens("reads", hits, {"node": lambda shadow: NodeView(node, shadow)})

    def _symbol_decided(self, events: list[SymbolEvent]) -> None:
        def hits(watchpoint: Watchpoint, stack: Sequence[Translator]) -> str | None:
            subjects = list(_subjects(watchpoint, stack))
            texts = [
                f"{event}, where {event.symbol} is {as_written(event.sources[0])}" if event.sources else str(event)
                for event in events
                if _is_about(event, watchpoint, subjects)
            ]
            return ", and ".join(texts) or None

        self._happens("writes", hits)

    def _mutated(self, variable: object, attribute: str | None) -> None:
        if attribute == "cell_contents":
            return  # a name shared with an inner function: its value is compared
        variable = without_lazy(variable)[0] or variable
        source = as_written(source_of(variable) or "")

        def hits(watchpoint: Watchpoint, stack: Sequence[Translator]) -> str | None:
            what = watchpoint.on.what
            if watchpoint.on.kind == "source":
                watched = as_written(what)
                if watched == source:
                    return _mutation_text(what, attribute)
                return f"{what} is set" if source and watched == f"{source}.{attribute}" else None
            for subject in _subjects(watchpoint, stack):
                if subject.owner is variable and subject.attribute == attribute:
                    return f"{what} is set to {subject.row.value}"
                if subject.variable is variable or source in subject.sources:
                    return _mutation_text(what, attribute)
            return None

        self._happens("writes", hits)

    def _happens(
        self,
        access: Literal["reads", "writes"],
        text_for: Callable[[Watchpoint, Sequence[Translator]], str | None],
        names: AddedNames | None = None,
    ) -> None:
        def serve(state: ThreadState, stack: list[Translator]) -> None:
            hits: list[Hit] = []
            for watchpoint in self._watchpoints:
                is_there = watchpoint.on.kind == "local" or watchpoint.is_of(code_of(stack[-1]))
                if is_there and getattr(watchpoint, access):
                    text = text_for(watchpoint, stack)
                    if text is not None:
                        hits.append((watchpoint, _frame_of(watchpoint, stack), f"{text} ({_place(stack)})"))
            for watchpoint, _, _ in hits if access == "writes" else ():
                _forget(state, watchpoint)
            stopping = self._that_stop(state, stack, hits, names)
            if stopping is not None:
                self._hook.stop(state, _from_assignment(stack) if access == "writes" else stack, stopping)

        self._hook.during_instruction(serve)

    def _that_stop(
        self, state: ThreadState, stack: Sequence[Translator], hits: Sequence[Hit], names: AddedNames | None = None
    ) -> Stop | None:
        """Return a stop at those hits that are new in this compile and whose conditions are true."""
        where = instructions_at(stack) if hits else ()
        seen = state.begin_compile().seen
        stopping = [
            (watchpoint.id, text)
            for watchpoint, frame, text in hits
            if seen.is_new((watchpoint.id, text, where))
            and self._hits.that_stop([watchpoint], TracedFrame(frame, names), Visit(state))
        ]
        if not stopping:
            return None
        text = "; ".join(dict.fromkeys(text for _, text in stopping))
        return Stop("data breakpoint", [number for number, _ in stopping], text)

    # ---- results of compiles

    def trace_ends(self, state: ThreadState) -> None:
        if state.outermost is not None and self._any_writes:
            state.begin_compile().symbols = symbols_so_far(output_of(state.outermost))

    def compile_ended(self, outcome: CompileOutcome) -> None:
        state = self._hook.threads.existing()
        if state is None or state.compile is None or not outcome.traced or not self._watchpoints:
            return
        facts = state.compile.symbols
        for watchpoint in self._watchpoints:
            candidates = outcome.traced if watchpoint.on.kind == "local" else outcome.traced[:1]
            codes = [code for code in candidates if watchpoint.is_of(code)]
            if codes:
                watchpoint.observed.compiled = True
                for code in codes:
                    watchpoint.observed.names.update(
                        code.co_varnames, code.co_cellvars, code.co_freevars, code.co_names
                    )
                if watchpoint.on.kind in ("source", "symbol"):
                    watchpoint.observed.symbols.update(fact.name for fact in facts if _is_symbol_of(fact, watchpoint))

    # ---- changes

    def may_stop_in(self, code: types.CodeType) -> bool:
        return True  # a value may change in any function that is called

    def stops_at(self, state: ThreadState, activation: Activation) -> Stop | None:
        stack = active_translators(activation.translator)[::-1]
        if stack[0] is not activation.translator:
            return None
        hits: list[Hit] = []
        for watchpoint in self._watchpoints:
            if watchpoint.compares:
                for frame in stack:
                    if watchpoint.is_of(code_of(frame)) and (text := _change(state, watchpoint, frame)) is not None:
                        hits.append((watchpoint, frame, text))
        return self._that_stop(state, stack, hits)


def _change(state: ThreadState, watchpoint: Watchpoint, frame: Translator) -> str | None:
    key = watchpoint.id, id(frame)
    subject = find(frame, watchpoint.on.what)
    values = state.begin_compile().watched_values
    before: Seen | None = values.pop(key, None)
    if subject is None:
        return None
    _observe(watchpoint, subject)
    now = values[key] = Seen.of(subject, line_of(frame))
    if before is None or not before.changes_into(now):
        return None
    place = f"{short_name(code_of(frame).co_filename)}:{before.line}"
    if before.text == now.text:
        return f"{watchpoint.on.what} is set to another {now.text} ({place})"
    return f"{watchpoint.on.what}: {before.text} → {now.text} ({place})"


def _observe(watchpoint: Watchpoint, subject: Subject) -> None:
    watchpoint.observed.value = subject.row.value
    watchpoint.observed.symbols |= subject.symbols


def _forget(state: ThreadState, watchpoint: Watchpoint) -> None:
    """Forget the values of a watchpoint just reported: comparing them must not stop again."""
    values = state.begin_compile().watched_values
    for key in [key for key in values if key[0] == watchpoint.id]:
        del values[key]


def _subjects(watchpoint: Watchpoint, stack: Sequence[Translator]) -> Iterator[Subject]:
    if watchpoint.on.kind == "local":
        for frame in stack:
            if watchpoint.is_of(code_of(frame)) and (subject := find(frame, watchpoint.on.what)) is not None:
                _observe(watchpoint, subject)
                yield subject


def _frame_of(watchpoint: Watchpoint, stack: Sequence[Translator]) -> Translator:
    """Return the frame to evaluate a condition in: the one that the watched name belongs to."""
    if watchpoint.on.kind != "local":
        return stack[0]
    return next((frame for frame in stack if watchpoint.is_of(code_of(frame))), stack[0])


def _is_about(event: SymbolEvent, watchpoint: Watchpoint, subjects: Sequence[Subject]) -> bool:
    sources = {as_written(source) for source in event.sources}
    if watchpoint.on.kind in ("symbol", "source"):
        return watchpoint.on.what == event.symbol or as_written(watchpoint.on.what) in sources
    return any(event.symbol in subject.symbols or not subject.sources.isdisjoint(sources) for subject in subjects)


def _is_symbol_of(fact: SymbolFact, watchpoint: Watchpoint) -> bool:
    watched = as_written(watchpoint.on.what)
    return fact.name == watchpoint.on.what or any(as_written(source).startswith(watched) for source in fact.sources)


def _mutation_text(what: str, attribute: str | None) -> str:
    return f"{what} is mutated" if attribute is None else f"{what}.{attribute} is set"


def _from_assignment(stack: list[Translator]) -> list[Translator]:
    """Return the stack without a library's `__setattr__` and what it calls."""
    from_setter = stack
    for number, frame in enumerate(stack[:-1]):
        if _is_users(frame):
            break
        if code_of(frame).co_name in ("__setattr__", "__delattr__"):
            from_setter = stack[number + 1 :]
    return from_setter


def _place(stack: list[Translator]) -> str:
    """Return the line of the innermost frame that is user code, or of the innermost frame."""
    frame = next((frame for frame in stack if _is_users(frame)), stack[0])
    return f"{short_name(code_of(frame).co_filename)}:{line_of(frame)}"


def _is_users(frame: Translator) -> bool:
    return is_user_code(real_path(code_of(frame).co_filename))
