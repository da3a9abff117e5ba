"""Report each call into Dynamo, by the eval-frame callback or an export, and each attempt at tracing a frame."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Collection, Iterator
from typing import Any, Literal, Protocol

from dynascope.agent.events import torch_names
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.events.wrapping import Events
from dynascope.agent.internals.codegen.generated import is_generated
from dynascope.agent.program import collector
from dynascope.agent.program.threads import hidden_frame

_LIMIT_REACHED = "its recompile limit is reached"
_IN_PLAIN_WORDS = {
    # `convert_frame.ConvertFrame.__call__` (2.13, then 2.15) says so of one exception alone
    "compilation failed with a custom frame execution strategy": _LIMIT_REACHED,
    "compilation failed with exception-directed frame execution": _LIMIT_REACHED,
}

Restart = Literal["speculation", "other"]


class DynamoCalls(Protocol):
    """Receive the events of `CompileHooks`, all on the compiling thread."""

    def compile_begins(self) -> None: ...

    def compile_ends(self, frame: Any, compiled: bool, skip_reason: str | None) -> None:
        """Receive the end of a compile; `frame` is Dynamo's view of the frame it was called for.

        `skip_reason` is Dynamo's for a frame it will never compile; "" where it gives none (before 2.13).
        """

    def attempt_restarts(self, kind: Restart, reason: str) -> None:
        """Receive why Dynamo traces the frame again (`exc.RestartAnalysis.restart_reason`, 2.4)."""

    def trace_ends(self) -> None:
        """Receive that torch is about to collect what the trace has left: nothing may be kept of it."""

    def code_generated(self, code: types.CodeType, generated: types.CodeType, compile_id: str, guards: Any) -> None:
        """Receive the code that was generated for `code`, with its guards (`GuardedCode`, 2.0)."""


class Gate(Protocol):
    """Decide that a frame is not to be compiled; where a method fails, the decision is Dynamo's."""

    def before(self, code: types.CodeType) -> Any | None:
        """Return the result to use instead of calling Dynamo, or None to call it."""

    def after(self, result: Any) -> Any | None:
        """Return the result to use instead of Dynamo's `result`, or None to keep it."""

    def abandoned(self, code: types.CodeType, error: BaseException) -> Any | None:
        """Return the result for a frame whose compile has failed, or None to raise the error."""


class CompileHooks(Events):
    """Report each call that enters Dynamo, and each attempt at tracing, to an observer."""

    def __init__(self, observer: DynamoCalls, failures: HookFailures) -> None:
        from torch._dynamo import exc

        super().__init__(failures)
        self.gate: Gate | None = None
        self._observer = observer

        def fails(error: Exception) -> None:
            if isinstance(error, exc.RestartAnalysis):
                replays = isinstance(error, exc.SpeculationRestartAnalysis)
                observer.attempt_restarts("speculation" if replays else "other", error.restart_reason or "")

        before = [function for name in torch_names.ENTRIES for function in _layers(self.original(name))]
        self.call_instead(torch_names.CALL_OF_CALLBACK, self._call)
        self.call_around(torch_names.CAPTURE_FRAME, self._capture_begins, self._capture_ends)
        self.call_on_error(torch_names.TRACE_FRAME, fails)
        hear_collection(self, observer.trace_ends)
        self._entries = [self.original(name).__code__ for name in torch_names.ENTRIES]
        """Compared by identity: the code of one wrapper is equal to another's."""
        self._entries_before = [function.__code__ for function in before]
        """Those of a compile that began before this was here: a debugger may come at any time."""

    # ConvertFrameReturn: `guarded_code` and `apply_to_code` since 2.6, `skip_reason` since 2.13
    def _call(self, original: Any, callback: Any, frame: Any, cache_entry: Any, frame_state: Any) -> Any:
        code, gate, observer = frame.f_code, self.gate, self._observer
        if gate is not None and (uncompiled := self._ask(gate.before, code)) is not None:
            return uncompiled
        with self.failures:
            observer.compile_begins()
        compiled, skip_reason = False, None
        try:
            with hidden_frame:
                result = original(callback, frame, cache_entry, frame_state)
            if self.gate is not None:
                result = self._ask(self.gate.after, result) or result
            made = result.guarded_code
            compiled = made is not None
            if compiled:
                with self.failures:
                    observer.code_generated(code, made.code, str(made.compile_id), made.guard_manager)
            elif result.apply_to_code and not is_generated(code):
                skip_reason = _skip_reason(result)
            return result
        except BaseException as error:
            if self.gate is None or (uncompiled := self._ask(self.gate.abandoned, code, error)) is None:
                raise
            return uncompiled
        finally:
            with self.failures:
                observer.compile_ends(frame, compiled, skip_reason)

    def _ask(self, question: Callable[..., Any | None], *about: Any) -> Any | None:
        with self.failures:
            return question(*about)
        return None

    def _capture_begins(self, frame: Any, *args: Any, **kwargs: Any) -> Any:
        """Report a strict export or an `aot_compile`, which has no eval-frame callback."""
        self._observer.compile_begins()
        return frame

    def _capture_ends(self, frame: Any, result: Any, error: BaseException | None) -> None:
        self._observer.compile_ends(frame, error is None, None)

    def frame_below(self) -> types.FrameType | None:
        """Return the innermost real frame of the program below this thread's compile."""
        # no name for the frame of this call: it would be in a cycle of references, and all below it with it
        return _caller_of(sys._getframe(), self._entries) or _caller_of(sys._getframe(), self._entries_before)


def hear_collection(events: Events, trace_ends: Callable[[], None]) -> None:
    """Call `trace_ends` before torch collects what a trace has left: nothing may be kept of it.

    `_compile` does so with `config.run_gc_after_compile` (2.7). The collector is told, too: once, after all others.
    """
    events.call_around(torch_names.COLLECT, collector.collection_begins, collector.collection_ends)
    events.call_before(torch_names.COLLECT, lambda *generation: trace_ends())


def _caller_of(frame: types.FrameType | None, codes: Collection[types.CodeType]) -> types.FrameType | None:
    """Return what called the innermost frame of these functions, which may call one another."""
    while frame is not None and not any(frame.f_code is code for code in codes):
        frame = frame.f_back
    while frame is not None and any(frame.f_code is code for code in codes):
        frame = frame.f_back
    return frame


def _layers(function: Any) -> Iterator[Any]:
    """Yield a function of torch and what is wrapped around it, maybe since it was called."""
    while function is not None:
        yield function
        function = getattr(function, "__wrapped__", None)


def _skip_reason(result: Any) -> str:
    """Return why Dynamo will never compile a frame; "" where it gives no reason.

    Reads `ConvertFrameReturn.skip_reason` (2.13) and `frame_exec_strategy` (2.6): only at the recompile limit it says
    that compiled code may still run.
    """
    reason = getattr(result, "skip_reason", None) or ""
    if not reason and result.frame_exec_strategy.cur_action == sys.modules["torch._dynamo.types"].FrameAction.RUN_ONLY:
        return _LIMIT_REACHED
    return _IN_PLAIN_WORDS.get(reason, reason)
