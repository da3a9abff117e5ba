"""`recompile`: stop where a failed guard causes a compile; `recompileLimit`: where not."""

from __future__ import annotations

import threading
import types
from collections.abc import Sequence
from typing import Any

from dynascope.agent.events.compiles import RecompileEvents, RecompileLimitEvents
from dynascope.agent.exception_filters.filter_source import CompilerEvent, FilterSource, event_info
from dynascope.agent.internals.compile import failed_guard
from dynascope.agent.internals.frames.resume import line_of_break, name_of
from dynascope.agent.internals.guards.tree import cache_entries, changed_numbers, known_before_trace
from dynascope.agent.suspension.stops import Stop
from dynascope.agent.tracing.activation import Activation
from dynascope.agent.tracing.thread_state import ThreadState
from dynascope.explain import stops
from dynascope.explain.recompiles import RecompileKind
from dynascope.facts.recompiles import recompile_reason
from dynascope.facts.recompiles.causes import causes
from dynascope.facts.recompiles.guarded_value import guarded_value


class Recompiles(FilterSource, of="recompile"):
    """Stop at the first instruction of a recompile, as a stop check of the hook.

    Where recompiles are errors, stop where the function is called.
    """

    every_instruction = True

    def install(self) -> None:
        self._pending: dict[int, tuple[types.CodeType, tuple[str, str]]] = {}
        """The code that is recompiled next, with the title and text of its stop, by thread ident."""
        self.listen(RecompileEvents(self._recompiles, self.hook.failures, self._refused))
        self.hook.add_check(self)

    def remove(self) -> None:
        super().remove()
        self.hook.remove_check(self)

    def _recompiles(self, reasons: list[str], frame: Any) -> None:
        def serve(state: ThreadState) -> None:
            told = _told("recompile", reasons, frame, [stops.WHERE_MORE_IS_TOLD])
            self._pending[threading.get_ident()] = frame.f_code, told

        self.hook.outside_trace(serve)

    def _refused(self, reasons: list[str], frame: Any) -> None:
        title, text = _told("refused", reasons, frame, [stops.IS_AN_ERROR])
        event = CompilerEvent(event_info("recompile", text, []), title, skipped_frame=frame)
        self.hook.outside_trace(lambda state: self.tell(state, event))

    def may_stop_in(self, code: types.CodeType) -> bool:
        pending = self._pending.get(threading.get_ident())
        return pending is not None and pending[0] is code

    def stops_at(self, state: ThreadState, activation: Activation) -> Stop | None:
        code, (title, text) = self._pending.pop(threading.get_ident(), (None, ("", "")))
        if code is not activation.code:
            return None
        stack = [activation.translator]
        return self.stop_for(CompilerEvent(event_info("recompile", text, stack), title, stack))


class RecompileLimits(FilterSource, of="recompileLimit"):
    """Stop where a function is not compiled again, before it runs."""

    def install(self) -> None:
        self._latest: dict[int, tuple[list[str], Any]] = {}
        """By thread: why Dynamo is about to recompile, and its view of the frame."""
        failures = self.hook.failures

        def may_compile() -> None:
            self.hook.outside_trace(lambda state: self._latest.pop(id(state), None))

        limits = RecompileLimitEvents(self._exceeded, may_compile, failures)
        self.listen(RecompileEvents(self._recompiles, failures), limits)

    def _recompiles(self, reasons: list[str], frame: Any) -> None:
        self.hook.outside_trace(lambda state: self._latest.__setitem__(id(state), (reasons, frame)))

    def _exceeded(self, setting: str, limit: int) -> None:
        def serve(state: ThreadState) -> None:
            reasons, frame = self._latest.pop(id(state), ([], None))
            if frame is not None:
                title, text = _told("recompileLimit", reasons, frame, stops.limit(setting, limit))
                info = event_info("recompile limit", text, [])
                self.tell(state, CompilerEvent(info, title, skipped_frame=frame))

        self.hook.outside_trace(serve)


def _told(kind: RecompileKind, reasons: Sequence[str], frame: Any, more: Sequence[str]) -> tuple[str, str]:
    found, fits = recompile_reason.of_guards(reasons)
    facts = [failed_guard.recompile(recompile_reason.parse(each, frame.f_code.co_filename), frame) for each in found]
    entries = {each.compile_id: each for each in cache_entries(frame.f_code)}
    told = causes(facts, {}, lambda number: None, {0: line_of_break(frame.f_code)})
    for cause in told:
        subject, entry = guarded_value(cause.first.guard), entries.get(cause.first.failed_compile_id)
        changed = changed_numbers(entry.guards, frame) if subject.kind == "size" and entry is not None else []
        cause.known = known_before_trace(subject, changed, frame)
    return stops.recompile(kind, name_of(frame.f_code), told, fits, more)
