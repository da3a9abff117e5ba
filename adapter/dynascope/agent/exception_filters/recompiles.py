"""`recompile`: stop where a failed guard causes a compile; `recompileLimit`: where not."""

from __future__ import annotations

import threading
import types
from collections.abc import Sequence
from typing import Any

from dynascope.agent.events.recompiles import RecompileEvents, RecompileLimitEvents
from dynascope.agent.exception_filters.compiler_event import CompilerEvent, event_info
from dynascope.agent.exception_filters.filter_source import FilterSource
from dynascope.agent.internals.compile import failed_guard
from dynascope.agent.internals.compile.compile_context import trace_id
from dynascope.agent.internals.frames.resume import original_code
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.internals.guards.changed import changed_numbers, known_before_trace
from dynascope.agent.internals.guards.tree import cache_entries
from dynascope.agent.suspension.stop import Stop
from dynascope.agent.tracing.activation import Activation
from dynascope.agent.tracing.thread_state import ThreadState
from dynascope.facts.recompiles import recompile_reason
from dynascope.facts.recompiles.guarded_value import GuardedValue, guarded_value
from dynascope.facts.recompiles.remedies import remedies

_MORE = (
    "The guard of each compile, and what helps: `why` at the prompt or in the debug console.\n"
    "What differs then: `compare` at the prompt, or Compare Compiles in VS Code."
)
_NO_REASON = "Dynamo gives no reason."


class Recompiles(FilterSource):
    """Stop at the first instruction of a recompile, as a stop check of the hook.

    Where recompiles are errors, stop where the function is called.
    """

    every_instruction = True

    def install(self) -> None:
        self._pending: dict[int, tuple[types.CodeType, str, list[str]]] = {}
        """By thread ident: the code about to be recompiled, its name and the failed guards."""
        self.listen(RecompileEvents(self._recompiles, self.hook.failures, self._refused))
        self.hook.add_check(self)

    def remove(self) -> None:
        super().remove()
        self.hook.remove_check(self)

    def _recompiles(self, reasons: list[str], frame: Any) -> None:
        def serve(state: ThreadState) -> None:
            name = f"{original_code(frame.f_code).co_name} [{trace_id()}]"
            self._pending[threading.get_ident()] = frame.f_code, name, _guards(reasons, frame)

        self.hook.outside_trace(serve)

    def _refused(self, reasons: list[str], frame: Any) -> None:
        event = _refused_event(_guards(reasons, frame), frame)

        def serve(state: ThreadState) -> None:
            self.tell(state, event)

        self.hook.outside_trace(serve)

    def may_stop_in(self, code: types.CodeType) -> bool:
        pending = self._pending.get(threading.get_ident())
        return pending is not None and pending[0] is code

    def stops_at(self, state: ThreadState, activation: Activation) -> Stop | None:
        code, name, lines = self._pending.pop(threading.get_ident(), (None, "", []))
        if code is not activation.code:
            return None
        event = _event(name, lines, [activation.translator])
        return self.stop_for(event)


class RecompileLimits(FilterSource):
    """Stop where a function is not compiled again, before it runs."""

    def install(self) -> None:
        self._latest: dict[int, tuple[list[str], Any]] = {}
        """By thread: why Dynamo is about to recompile, and its view of the frame."""
        failures = self.hook.failures
        limits = RecompileLimitEvents(self._exceeded, self._may_compile, failures)
        self.listen(RecompileEvents(self._recompiles, failures), limits)

    def _recompiles(self, reasons: list[str], frame: Any) -> None:
        self.hook.outside_trace(lambda state: self._latest.__setitem__(id(state), (reasons, frame)))

    def _may_compile(self) -> None:
        def serve(state: ThreadState) -> None:
            self._latest.pop(id(state), None)

        self.hook.outside_trace(serve)

    def _exceeded(self, setting: str, limit: int) -> None:
        def serve(state: ThreadState) -> None:
            reasons, frame = self._latest.pop(id(state), ([], None))
            if frame is not None:
                self.tell(state, _limit_event(setting, limit, _guards(reasons, frame), frame))

        self.hook.outside_trace(serve)


def _guards(reasons: Sequence[str], frame: Any) -> list[str]:
    """Return a line for each compile not used (its id, failed guard and value), then hints.

    The first is of the newest compile.
    """
    lines = []
    by_value: dict[GuardedValue, list[recompile_reason.FailedGuard]] = {}
    found, fitting = recompile_reason.of_guards(reasons)
    for reason in found:
        failed = recompile_reason.parse(reason, frame.f_code.co_filename)
        met = failed_guard.value_met(failed.guard, frame)
        where = f"  ({failed.path}:{failed.line})" if failed.path is not None else ""
        lines.append(f"{recompile_reason.sentence(failed)}{f'; now {met}' if met else ''}{where}")
        same = by_value.setdefault(guarded_value(failed.guard), [])
        same.append(failed)
    lines += [f"Compile {each} fits now: {recompile_reason.MADE_SINCE}." for each in fitting]
    entries = {each.compile_id: each for each in cache_entries(frame.f_code)}
    for subject, same in by_value.items():
        own = [each.hint for each in same if each.hint]
        entry = entries.get(same[0].failed_compile_id)
        changed = changed_numbers(entry.guards, frame) if subject.kind == "size" and entry is not None else []
        known = known_before_trace(subject, changed, frame)
        lines += [f"Hint: {hint}" for hint in remedies([each.guard for each in same], own, known)]
    return list(dict.fromkeys(lines)) or [_NO_REASON]


def _event(name: str, lines: list[str], stack: list[Translator]) -> CompilerEvent:
    title = f"{name} is compiled again."
    info = event_info("recompile", "\n".join([title, *lines, _MORE]), stack)
    return CompilerEvent(info=info, title=lines[0], stack=stack)


def _refused_event(lines: list[str], frame: Any) -> CompilerEvent:
    name = original_code(frame.f_code).co_name
    title = f"{name} would be compiled again: torch._dynamo.config.error_on_recompile makes it an error."
    info = event_info("recompile", "\n".join([title, *lines]), [])
    return CompilerEvent(info=info, title=title, skipped_frame=frame)


def _limit_event(setting: str, limit: int, lines: list[str], frame: Any) -> CompilerEvent:
    code = original_code(frame.f_code)
    title = f"{code.co_name} has reached torch._dynamo.config.{setting} ({limit}): it is not compiled again."
    hints = [
        "Calls that no compiled code fits run uncompiled, or raise with fullgraph=True.",
        f"Hint: if so many variants are meant, raise {setting}.",
    ]
    info = event_info("recompile limit", "\n".join([title, *lines, *hints]), [])
    return CompilerEvent(info=info, title=title, skipped_frame=frame)
