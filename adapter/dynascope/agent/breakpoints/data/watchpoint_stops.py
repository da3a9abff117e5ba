"""Where data breakpoints stop: told of guards, nodes, symbols and mutations, and asked at instructions for changes.

Runs on the compiling thread, but for `use`. A wrapper of Dynamo's is in place only while a breakpoint needs it.
"""

from __future__ import annotations

import os
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, Protocol

from dynascope.agent.breakpoints.conditions import Given
from dynascope.agent.breakpoints.data.changes import Seen
from dynascope.agent.breakpoints.data.watched_value import Subject, find
from dynascope.agent.breakpoints.data.watchpoint import Watch, Watches
from dynascope.agent.breakpoints.hits import Hits
from dynascope.agent.inspection.evaluation.node_view import NodeView
from dynascope.agent.internals.frames.translators import (
    Translator,
    active_translators,
    code_of,
    instruction_index,
    line_of,
    output_of,
)
from dynascope.agent.internals.graph.graph import node_text
from dynascope.agent.internals.graph.node_events import NodeEvents, inputs_of, source_of_input
from dynascope.agent.internals.guards.events import GuardEvents, as_written
from dynascope.agent.internals.symbolic_shapes.events import SymbolEvent, SymbolEvents
from dynascope.agent.internals.symbolic_shapes.shapes import SymbolFact, symbols_so_far
from dynascope.agent.internals.variables.mutations import MutationEvents
from dynascope.agent.internals.variables.variables import look_through_lazy, source_of
from dynascope.agent.program.user_code import is_user_code, real_path
from dynascope.agent.tracing.activation import Activation
from dynascope.agent.tracing.hook import Hook
from dynascope.agent.tracing.thread_state import ThreadTracing

Hit = tuple[Watch, Translator, str]
"""A breakpoint, the frame its condition is evaluated in, and what happened, for the user."""


class _Events(Protocol):
    def remove(self) -> None: ...


class DataStops:
    """One per hook; holds nothing of a trace."""

    def __init__(self, hook: Hook, hits: Hits) -> None:
        self._hook = hook
        self._hits = hits
        self._watches = Watches()
        self._events: dict[str, _Events] = {}

    # ---- any thread

    def use(self, watches: Watches) -> None:
        """These are the data breakpoints now."""
        self._watches = watches
        self._install("guards", watches.reads, lambda: GuardEvents(self._guard_installed))
        self._install("nodes", watches.reads, lambda: NodeEvents(self._node_entered))
        self._install("symbols", watches.writes, lambda: SymbolEvents(self._symbol_decided))
        self._install("mutations", watches.writes, lambda: MutationEvents(self._mutated))
        self._hook.find_changes = self._find_changes if watches.compares else None
        self._hook.watching.watch_again()

    def _install(self, name: str, is_needed: bool, make: Callable[[], _Events]) -> None:
        if is_needed and name not in self._events:
            self._events[name] = make()
        elif not is_needed and name in self._events:
            self._events.pop(name).remove()

    # ---- what Dynamo does

    def _guard_installed(self, source: str, kind: str) -> None:
        if not source:
            return
        written = as_written(source)

        def hits(watch: Watch, stack: Sequence[Translator]) -> str | None:
            if watch.on.kind == "source":
                is_meant = as_written(watch.on.what) == written
            else:
                is_meant = any(written in subject.sources for subject in _subjects(watch, stack))
            return f"guard {kind} on {source} installed" if is_meant else None

        self._happens("reads", hits)

    def _node_entered(self, node: Any) -> None:
        inputs = inputs_of(node)
        if not inputs or node.op == "output":
            return
        sources = {as_written(source) for each in inputs if (source := source_of_input(each))}

        def hits(watch: Watch, stack: Sequence[Translator]) -> str | None:
            match watch.on.kind:
                case "node":
                    is_meant = any(each.name == watch.on.what for each in inputs)
                case "source":
                    is_meant = as_written(watch.on.what) in sources
                case _:
                    is_meant = any(
                        any(each is subject.node for each in inputs) or not subject.sources.isdisjoint(sources)
                        for subject in _subjects(watch, stack)
                    )
            return f"{watch.on.what} is an input of {node_text(node)}" if is_meant else None

        self._happens("reads", hits, {"node": lambda shadow: NodeView(node, shadow)})

    def _symbol_decided(self, events: list[SymbolEvent]) -> None:
        def hits(watch: Watch, stack: Sequence[Translator]) -> str | None:
            subjects = list(_subjects(watch, stack))
            told = [_symbol_text(event) for event in events if _is_about(event, watch, subjects)]
            return ", and ".join(told) or None

        self._happens("writes", hits)

    def _mutated(self, variable: object, attribute: str | None) -> None:
        if attribute == "cell_contents":
            return  # a name that an inner function shares: its value is compared
        variable = look_through_lazy(variable)[0] or variable
        source = as_written(source_of(variable) or "")

        def hits(watch: Watch, stack: Sequence[Translator]) -> str | None:
            what = watch.on.what
            if watch.on.kind == "source":
                wanted = as_written(what)
                if wanted == source:
                    return _mutation_text(what, attribute)
                return f"{what} is set" if source and wanted == f"{source}.{attribute}" else None
            for each in _subjects(watch, stack):
                if each.owner is variable and each.attribute == attribute:
                    return f"{what} is set to {each.row.value}"
                if each.variable is variable or source in each.sources:
                    return _mutation_text(what, attribute)
            return None

        self._happens("writes", hits)

    def _happens(
        self,
        access: Literal["reads", "writes"],
        text_for: Callable[[Watch, Sequence[Translator]], str | None],
        given: Given | None = None,
    ) -> None:
        def serve(state: ThreadTracing, stack: list[Translator]) -> None:
            hits: list[Hit] = []
            for watch in self._watches:
                if getattr(watch, access) and _is_compile_of(watch, stack):
                    text = text_for(watch, stack)
                    if text is not None:
                        hits.append((watch, _frame_of(watch, stack), f"{text} ({_place(stack)})"))
            for watch, _, _ in hits if access == "writes" else ():
                _forget(state, watch)
            stopping = self._that_stop(state, stack, hits, given)
            if stopping is not None:
                self._hook.hold(state, stack, "data breakpoint", *stopping)

        self._hook.amid(serve)

    def _that_stop(
        self, state: ThreadTracing, stack: Sequence[Translator], hits: Sequence[Hit], given: Given | None = None
    ) -> tuple[list[int], str] | None:
        """Ids and text of those that are new in this compile, and whose conditions hold."""
        where = tuple((code_of(frame), instruction_index(frame)) for frame in stack) if hits else ()
        stopping = [
            (watch.id, text)
            for watch, frame, text in hits
            if state.moments.is_new((watch.id, text, where)) and self._hits.amid([watch], frame, given)
        ]
        if not stopping:
            return None
        return [number for number, _ in stopping], "; ".join(dict.fromkeys(text for _, text in stopping))

    # ---- what it was in vain for

    def compiled(self, traced: Sequence[types.CodeType]) -> None:
        """A thread's outermost compile is over, and all its state still there: note what it showed of each value."""
        state = self._hook.threads.existing()
        outermost = state.outermost if state is not None else None
        if outermost is None or not self._watches:
            return
        facts = symbols_so_far(output_of(outermost)) if self._watches.writes else []
        for watch in self._watches:
            candidates = traced if watch.on.kind == "local" else [code_of(outermost)]
            codes = [code for code in candidates if watch.is_of(code)]
            if codes:
                watch.met.compiled = True
                for code in codes:
                    watch.met.names.update(code.co_varnames, code.co_cellvars, code.co_freevars, code.co_names)
                if watch.on.kind in ("source", "symbol"):
                    watch.met.symbols.update(fact.name for fact in facts if _is_symbol_of(fact, watch))

    # ---- changes

    def _find_changes(self, state: ThreadTracing, activation: Activation) -> tuple[list[int], str] | None:
        stack = active_translators(activation.translator)[::-1]
        if stack[0] is not activation.translator:
            return None
        hits: list[Hit] = []
        for watch in self._watches:
            if watch.compares:
                for frame in stack:
                    if watch.is_of(code_of(frame)) and (text := _change(state, watch, frame)) is not None:
                        hits.append((watch, frame, text))
        return self._that_stop(state, stack, hits)


def _change(state: ThreadTracing, watch: Watch, frame: Translator) -> str | None:
    """What changed since the instruction before."""
    key = watch.id, id(frame)
    subject = find(frame, watch.on.what)
    before: Seen | None = state.values.pop(key, None)
    if subject is None:
        return None
    _meet(watch, subject)
    now = state.values[key] = Seen.of(subject, line_of(frame))
    if before is None or not before.changes_into(now):
        return None
    place = f"{os.path.basename(code_of(frame).co_filename)}:{before.line}"
    if before.text == now.text:
        return f"{watch.on.what} is set to another {now.text} ({place})"
    return f"{watch.on.what}: {before.text} → {now.text} ({place})"


def _meet(watch: Watch, subject: Subject) -> None:
    watch.met.value = subject.row.value
    watch.met.symbols |= subject.symbols


def _forget(state: ThreadTracing, watch: Watch) -> None:
    """What has just been told of needs no second stop when the values are compared."""
    for key in [key for key in state.values if key[0] == watch.id]:
        del state.values[key]


def _subjects(watch: Watch, stack: Sequence[Translator]) -> Iterator[Subject]:
    """What a `local` stands for in each of its function's frames."""
    if watch.on.kind == "local":
        for frame in stack:
            if watch.is_of(code_of(frame)) and (subject := find(frame, watch.on.what)) is not None:
                _meet(watch, subject)
                yield subject


def _is_compile_of(watch: Watch, stack: Sequence[Translator]) -> bool:
    return watch.on.kind == "local" or watch.is_of(code_of(stack[-1]))


def _frame_of(watch: Watch, stack: Sequence[Translator]) -> Translator:
    """Where a condition is evaluated: in the frame that the watched name belongs to."""
    if watch.on.kind != "local":
        return stack[0]
    return next((frame for frame in stack if watch.is_of(code_of(frame))), stack[0])


def _is_about(event: SymbolEvent, watch: Watch, subjects: Sequence[Subject]) -> bool:
    sources = {as_written(source) for source in event.sources}
    if watch.on.kind in ("symbol", "source"):
        return watch.on.what == event.symbol or as_written(watch.on.what) in sources
    return any(event.symbol in each.symbols or not each.sources.isdisjoint(sources) for each in subjects)


def _is_symbol_of(fact: SymbolFact, watch: Watch) -> bool:
    wanted = as_written(watch.on.what)
    return fact.name == watch.on.what or any(as_written(source).startswith(wanted) for source in fact.sources)


def _symbol_text(event: SymbolEvent) -> str:
    return f"{event}, where {event.symbol} is {as_written(event.sources[0])}" if event.sources else str(event)


def _mutation_text(what: str, attribute: str | None) -> str:
    return f"{what} is mutated" if attribute is None else f"{what}.{attribute} is set"


def _place(stack: Sequence[Translator]) -> str:
    """The line of the innermost frame, or of the user's that called what is a library's."""
    shown = (frame for frame in stack if is_user_code(real_path(code_of(frame).co_filename)))
    frame = next(shown, stack[0])
    return f"{os.path.basename(code_of(frame).co_filename)}:{line_of(frame)}"
