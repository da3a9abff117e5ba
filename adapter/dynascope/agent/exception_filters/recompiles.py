"""`recompile`: at the first line of a compile that happens because a guard failed; `recompileLimit`: when no compile
happens any more, because the function has had too many of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dynascope.agent.exception_filters.compiler_event import Fault, stack_text
from dynascope.agent.internals.compile import failed_guard as recompiling
from dynascope.agent.internals.compile.compile_context import trace_id
from dynascope.agent.internals.compile.recompile_events import RecompileEvents, RecompileLimitEvents
from dynascope.agent.internals.frames.resume import original_code
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.tracing.hook import Hook
from dynascope.agent.tracing.thread_state import ThreadTracing
from dynascope.facts import recompile_reason
from dynascope.wire.exceptions import ExceptionDetails, ExceptionInfo

_NO_REASON = "Dynamo gives no reason."


class Recompiles:
    """Installed while the filter is on."""

    def __init__(self, hook: Hook, report: Callable[[ThreadTracing, Fault], bool]) -> None:
        self._hook = hook
        self._report = report
        self._events = RecompileEvents(self._recompiles)

    def remove(self) -> None:
        self._events.remove()

    def _recompiles(self, reasons: list[str], frame: Any) -> None:
        def serve(state: ThreadTracing) -> None:
            name = f"{original_code(frame.f_code).co_name} [{trace_id()}]"
            lines = _guards(reasons, frame)
            state.at_start = frame.f_code, lambda stack: self._report(state, _fault(name, lines, stack))

        self._hook.aside(serve)


class RecompileLimits:
    """Installed while the filter is on."""

    def __init__(self, hook: Hook, report: Callable[[ThreadTracing, Fault], bool]) -> None:
        self._hook = hook
        self._report = report
        self._latest: dict[int, tuple[list[str], Any]] = {}
        """By thread: why Dynamo is about to compile again, and its view of the frame."""
        self._reasons = RecompileEvents(self._recompiles)
        self._limits = RecompileLimitEvents(self._exceeded)

    def remove(self) -> None:
        self._limits.remove()
        self._reasons.remove()

    def _recompiles(self, reasons: list[str], frame: Any) -> None:
        self._hook.aside(lambda state: self._latest.__setitem__(id(state), (reasons, frame)))

    def _exceeded(self, setting: str, limit: int) -> None:
        def serve(state: ThreadTracing) -> None:
            reasons, frame = self._latest.pop(id(state), ([], None))
            if frame is not None:
                self._report(state, _limit_fault(setting, limit, _guards(reasons, frame), frame))

        self._hook.aside(serve)


def _guards(reasons: Sequence[str], frame: Any) -> list[str]:
    """A line for each compile that could not be used: its id, the guard that failed, and what it met in this call."""
    lines = []
    for reason in reasons:
        failed = recompile_reason.parse(reason, frame.f_code.co_filename)
        of = f" of compile {failed.failed_compile_id}" if failed.failed_compile_id else ""
        met = recompiling.value_met(failed.guard, frame)
        where = f"  ({failed.path}:{failed.line})" if failed.path is not None else ""
        lines.append(f"The guard{of} failed: {failed.guard}{f'; now {met}' if met else ''}{where}")
    return lines or [_NO_REASON]


def _info(kind: str, title: str, lines: list[str], stack: list[Translator]) -> ExceptionInfo:
    description = "\n".join([title, *lines])
    told = ExceptionDetails(message=description, type_name=kind, full_type_name=kind, stack_trace=stack_text(stack))
    return ExceptionInfo(exception_id=kind, break_mode="always", description=description, details=told)


def _fault(name: str, lines: list[str], stack: list[Translator]) -> Fault:
    title = f"{name} is compiled again."
    return Fault(info=_info("recompile", title, lines, stack), title=lines[0], stack=stack)


def _limit_fault(setting: str, limit: int, lines: list[str], frame: Any) -> Fault:
    code = original_code(frame.f_code)
    title = f"{code.co_name} has reached torch._dynamo.config.{setting} ({limit}): it is not compiled again."
    hints = [
        "Calls that no compiled code fits run uncompiled, or raise with fullgraph=True.",
        f"Hint: keep the guards from failing (mark_dynamic, fewer distinct values), or raise {setting}.",
    ]
    return Fault(info=_info("recompile limit", title, [*lines, *hints], []), title=title, entry=frame)
