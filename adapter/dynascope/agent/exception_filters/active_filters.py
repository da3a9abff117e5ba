"""Watches for what the filters that are on ask for: a watcher's hooks are in only while its filter is on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from dynascope.agent.breakpoints import conditions as evaluation
from dynascope.agent.exception_filters.backend_failures import BackendFailures
from dynascope.agent.exception_filters.codegen import Codegen
from dynascope.agent.exception_filters.compiler_event import Fault
from dynascope.agent.exception_filters.error_map import ByError
from dynascope.agent.exception_filters.filter_condition import Wanted
from dynascope.agent.exception_filters.graph_breaks import GraphBreaks
from dynascope.agent.exception_filters.recompiles import RecompileLimits, Recompiles
from dynascope.agent.exception_filters.skipped_frames import SkippedFrames
from dynascope.agent.exception_filters.specializations import Specializations
from dynascope.agent.inspection.skipped_frame import evaluate_at_entry
from dynascope.agent.stops.stops import ExceptionStop
from dynascope.agent.tracing.hook import Hook
from dynascope.agent.tracing.thread_state import ThreadTracing
from dynascope.wire.exceptions import FilterId
from dynascope.wire.from_agent import Output
from dynascope.wire.messages import Message

Report = Callable[[ThreadTracing, Fault], bool]
"""Tell of a fault of one filter, on the compiling thread; whether it has stopped."""


class Watcher(Protocol):
    """Made with the hook and what to tell of; its hooks go in at once."""

    def remove(self) -> None: ...


WATCHERS: dict[FilterId, Callable[[Hook, Report], Watcher]] = {
    "graphBreak": GraphBreaks,
    "recompile": Recompiles,
    "recompileLimit": RecompileLimits,
    "specialization": Specializations,
    "backendFailure": BackendFailures,
    "skippedFrame": SkippedFrames,
    "codegen": Codegen,
}

_NOUNS: dict[FilterId, str] = {
    "graphBreak": "graph break",
    "recompile": "recompile",
    "recompileLimit": "recompile limit",
    "specialization": "specialization",
    "backendFailure": "backend failure",
    "skippedFrame": "skipped frame",
    "codegen": "code generation",
}


class Watchers:
    """`want` is called on any thread, the rest on compiling ones."""

    def __init__(self, hook: Hook, send: Callable[[Message], None]) -> None:
        self._hook = hook
        self._send = send
        self._wanted: dict[FilterId, list[Wanted]] = {}
        self._installed: dict[FilterId, Watcher] = {}
        self._without_answer: set[Wanted] = set()
        self._shown: ByError[bool] = ByError()
        """What one filter has stopped for, another does not."""

    def want(self, wanted: Sequence[Wanted]) -> None:
        """These filters are on now, and no others."""
        by_filter: dict[FilterId, list[Wanted]] = {}
        for each in wanted:
            by_filter.setdefault(each.filter_id, []).append(each)
        self._wanted = by_filter
        for filter_id in set(self._installed) - set(by_filter):
            self._installed.pop(filter_id).remove()
        for filter_id in sorted(set(by_filter) - set(self._installed)):
            self._installed[filter_id] = WATCHERS[filter_id](self._hook, self._reporter(filter_id))

    def _reporter(self, filter_id: FilterId) -> Report:
        def report(state: ThreadTracing, fault: Fault) -> bool:
            if self._shown.get(fault.error):
                return False
            hits = [each.id for each in self._wanted.get(filter_id, ()) if self._holds(each, fault)]
            if not hits:
                return False
            if fault.error is not None and not fault.first_chance:
                self._shown.put(fault.error, True)
            exception = ExceptionStop(fault.info, f"Paused on {_NOUNS[filter_id]}")
            if fault.stack:
                self._hook.hold(state, fault.stack, "exception", hits, fault.title, exception)
            else:
                self._hook.hold_at_entry(state, fault.entry, hits, fault.title, exception)
            return True

        return report

    def _holds(self, wanted: Wanted, fault: Fault) -> bool:
        condition = wanted.condition
        return (
            condition.first_chance == fault.first_chance
            and condition.allows_ids(fault.ids)
            and condition.allows_places(fault.places())
            and condition.in_my_code in (None, fault.is_in_my_code())
            and condition.allows_text(f"{fault.title}\n{fault.info.description}")
            and self._is_true(wanted, condition.expression, fault)
        )

    def _is_true(self, wanted: Wanted, expression: str | None, fault: Fault) -> bool:
        """Whether the expression is; one that has no answer while tracing counts as true, and says so once."""
        if expression is None:
            return True
        try:
            if fault.stack:
                return evaluation.condition_holds(expression, fault.stack[0])
            return evaluate_at_entry(fault.entry, expression)
        except evaluation.EvaluationError as error:
            if wanted not in self._without_answer:
                self._without_answer.add(wanted)
                text = f"The condition {expression!r} has no answer here: stopping. {error}\n"
                path, line = next(iter(fault.places()), (None, None))
                self._send(Output(category="important", output=text, path=path, line=line))
            return True
