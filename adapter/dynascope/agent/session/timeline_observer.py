"""Note for the timeline what happens in compiles. Everything here runs on compiling threads."""

from __future__ import annotations

import sys
import types
from functools import partial
from typing import Any

from dynascope.agent.events.compiles import RecompileEvents
from dynascope.agent.events.facts import FACT_EVENTS
from dynascope.agent.events.graph_breaks import GraphBreakEvents
from dynascope.agent.exception_filters.filter_source import frames_of
from dynascope.agent.internals.compile import failed_guard
from dynascope.agent.internals.compile.compile_context import compile_id_and_attempt, trace_id
from dynascope.agent.internals.compile.exceptions import traced_stack
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.resume import line_of_break, name_of, original_code
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.program.user_code import is_our_code, is_user_code, real_path
from dynascope.agent.session.timeline import TimelineEvents
from dynascope.agent.speculation.retrace import is_repeated
from dynascope.agent.tape.instructions import Position
from dynascope.agent.tape.playback import Playback
from dynascope.agent.tracing.compile_state import CompileState
from dynascope.agent.tracing.hook import Hook
from dynascope.agent.tracing.stop_check import CompileOutcome, TraceObserver
from dynascope.agent.tracing.thread_state import ThreadState
from dynascope.explain import compiles, recompiles
from dynascope.explain.failures import could_not_compile, not_compiled
from dynascope.explain.graph_breaks import title
from dynascope.explain.kinds import KINDS, noun_of
from dynascope.explain.problem import first_line
from dynascope.explain.recompiles import RecompileKind
from dynascope.facts import break_message, user_stack
from dynascope.facts.model import BreakEffect, Recompile, TracedFact
from dynascope.facts.recompiles import recompile_reason
from dynascope.facts.recompiles.guarded_value import guarded_value
from dynascope.facts.user_stack import UserFrame
from dynascope.wire.from_agent import Stopping

_FIRST = 1
"""The position of the first instruction of an attempt."""
_LAST = sys.maxsize
"""A position after all others."""
_MOVES = ("step", "goto", "restart")
"""Reasons of stops at which the user has arrived by going there."""


class TimelineObserver(TraceObserver):
    """Add events to a timeline while the hook is installed."""

    def __init__(self, hook: Hook, timeline: TimelineEvents) -> None:
        self._hook = hook
        self._timeline = timeline
        self._restart_reason = ""
        self._attempt = ""
        """The attempt in progress, such as `0/1_2`."""
        self._first_target = 0
        """The targets of what is recorded of it are not below this one."""
        self._breaks: set[str] = set()
        """The messages of the breaks of the compile in progress."""
        failures = hook.failures
        self._heard = (
            GraphBreakEvents(self._graph_break, self._graph_break_counted, failures),
            *(events(partial(self._happened, kind), failures) for kind, events in FACT_EVENTS.items()),
            RecompileEvents(
                partial(self._add_recompile, "recompile"), failures, partial(self._add_recompile, "refused")
            ),
        )
        hook.compiles.observe(self)

    def remove(self) -> None:
        """Add no more."""
        self._hook.compiles.unobserve(self)
        for heard in self._heard:
            heard.remove()

    # ---- TraceObserver

    def attempt_begins(self, state: ThreadState, translator: Translator) -> None:
        code = translators.code_of(translator)
        attempt, ended = compile_id_and_attempt()[1], self._hook.histories.ended
        if is_repeated():
            self._course_changes(state.begin_compile(), code)
        elif attempt:
            why, self._restart_reason = self._restart_reason, ""
            self._add("restart", compiles.restarted(name_of(code), attempt, why), _place(code), _FIRST)
        else:
            self._attempt_ends()
            self._breaks.clear()
            self._add("compile", compiles.BEGINS.format(name_of(code)), _place(code), _FIRST)
        self._attempt, self._first_target = trace_id(), ended[-1].end_of_targets if ended else 0

    def attempt_restarts(self, reason: str, replays: bool) -> None:
        self._restart_reason = reason
        self._attempt_ends(replays)

    def code_generated(self, code: types.CodeType, generated: types.CodeType, compile_id: str) -> None:
        state = self._hook.threads.existing()
        now = None if state is None or state.is_stopped else state.compile
        position = 0 if now is None else now.clock.traced.position
        text = compiles.COMPILED.format(name_of(code))
        self._timeline.add("compiled", text, _place(code), compile_id, position=position)

    def frame_skipped(self, state: ThreadState, frame: Any, reason: str) -> None:
        self._skipped(frame.f_code, reason)

    def compile_ended(self, outcome: CompileOutcome) -> None:
        recorded = self._attempt_ends()
        if not outcome.abandoned:
            return
        code, skipped = outcome.abandoned[0], {id(code): reason for code, reason in outcome.skipped}
        error, target = sys.exception(), None if recorded is None else recorded.target_at(_LAST)
        if id(code) in skipped or error is None:
            self._skipped(code, skipped.get(id(code), ""), target)
        else:
            text = could_not_compile(name_of(code), f"{type(error).__name__}: {first_line(str(error))}")
            self._timeline.add("failed", text, _place(code), target=target)

    def _attempt_ends(self, replays: bool = False) -> Playback | None:
        """Let its events lead to what was recorded of the attempt, if it was; return that."""
        own = (each for each in reversed(self._hook.histories.ended) if each.first_target >= self._first_target)
        recorded = next((attempt for attempt in own if attempt.name == self._attempt), None)
        target_at = (lambda position: None) if recorded is None else recorded.target_at
        self._timeline.attempt_ends(target_at, replays)
        return recorded

    def _course_changes(self, state: CompileState, code: types.CodeType) -> None:
        """Note that the attempt is traced again because the user keeps other changes than before."""
        self._breaks.clear()
        self._timeline.course_changes(after=state.clock.latest)
        text = compiles.repeats(name_of(code), [change.text for change in state.applied])
        self._add("restart", text, _place(code), _FIRST)

    def _skipped(self, code: types.CodeType, reason: str, target: Position | None = None) -> None:
        place = _place(code)
        if is_user_code(place[0]) and not is_our_code(place[0]):
            self._timeline.add("skipped", not_compiled(name_of(code), first_line(reason)), place, target=target)

    # ---- events during a trace, and before it

    def _graph_break(self, effect: BreakEffect, message: str, stack: list[UserFrame]) -> None:
        self._add_break(message, stack)

    def _graph_break_counted(self, message: str) -> None:
        if message not in self._breaks:
            self._add_break(message, traced_stack())

    def _add_break(self, message: str, stack: list[UserFrame]) -> None:
        self._breaks.add(message)
        self._add_traced("graph break", title(break_message.parse_all(message)[0]), stack)

    def _happened(self, kind: str, fact: TracedFact) -> None:
        noun, title = noun_of(kind), KINDS[kind].problem(fact).title
        self._hook.during_instruction(lambda state, stack: self._add_traced(noun, title, frames_of(stack)))

    def _add_recompile(self, kind: RecompileKind, reasons: list[str], frame: Any) -> None:
        code = frame.f_code
        found = recompile_reason.of_guards(reasons)[0]
        failed = failed_guard.recompile(recompile_reason.parse(found[0], code.co_filename), frame) if found else None
        target = None if failed is None else self._guard_of(failed)
        text = recompiles.title(kind, "", name_of(code)) if failed is None else recompiles.at_once(failed, kind)
        self._timeline.add("recompile", text, _place(code), trace_id(), target=target)

    def _guard_of(self, failed: Recompile) -> Position | None:
        """Return the target of the line for which the compile has the guard that failed."""
        recorded = self._hook.histories.latest(failed.failed_compile_id)
        if recorded is None:
            return None
        subject = guarded_value(failed.guard)
        fixed = recorded.line_that_fixed(subject.text)
        if fixed is not None:
            return fixed[2]
        if failed.guard_path is not None and failed.guard_line is not None:
            return recorded.target_of_guard(_path(failed.guard_path), failed.guard_line)
        return recorded.target_of_source(subject.expression)

    def stops(self, stopping: Stopping) -> None:
        """Note a stop at which a thread is about to wait."""
        if stopping.reason in _MOVES or stopping.is_past or not stopping.frames:
            return
        with self._hook.failures:
            frame = stopping.frames[0]
            path = frame.source.path if frame.source is not None else None
            self._add("stop", compiles.stopped(stopping.reason, stopping.text), (path or "", frame.line))

    # ---- adding

    def _add_traced(self, kind: str, text: str, stack: list[UserFrame]) -> None:
        """Add an event at the stack's innermost line outside Dynamo, unless we have caused it."""
        state = self._hook.threads.existing()
        if state is not None and state.is_stopped:
            return
        frame = user_stack.innermost([frame for frame in stack if not is_our_code(frame.path)])
        if frame is not None:
            self._add(kind, text, (_path(frame.path), frame.line))

    def _add(self, kind: str, text: str, place: tuple[str, int], position: int | None = None) -> None:
        """Add an event of the compile in progress on this thread, unless its trace is repeated."""
        state = self._hook.threads.existing()
        now = None if state is None else state.compile
        if state is None or now is None or now.outermost is None:
            self._timeline.add(kind, text, place)
        elif now.travel is None:
            position = now.clock.traced.position if position is None else position
            self._timeline.add(kind, text, place, trace_id(), state.thread_id, position)


def _place(code: types.CodeType) -> tuple[str, int]:
    """Return the file and line where the function begins, or goes on after a graph break."""
    original = original_code(code)
    return _path(original.co_filename), line_of_break(code) or original.co_firstlineno


def _path(name: str) -> str:
    """Return a file's real path; "" for code without one."""
    return "" if name.startswith("<") else real_path(name)
