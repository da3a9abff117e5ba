"""Report each call into Dynamo, by the eval-frame callback or an export, and each attempt at tracing a frame."""

from __future__ import annotations

import sys
import types
from collections.abc import Collection, Iterator
from typing import Any, Literal, Protocol

from dynascope.agent.internals import torch_names
from dynascope.agent.internals.compile.frame_chunk import gives_large_chunk
from dynascope.agent.internals.compile.retrace import frame_entered, trace_until_done
from dynascope.agent.internals.wrapping import Wrapping
from dynascope.agent.program import collector
from dynascope.agent.program.tracebacks import hidden_frame

_LIMIT_REACHED = "its recompile limit is reached"
_IN_PLAIN_WORDS = {
    # `convert_frame.ConvertFrame.__call__` (2.13, then 2.15) says so of one exception alone
    "compilation failed with a custom frame execution strategy": _LIMIT_REACHED,
    "compilation failed with exception-directed frame execution": _LIMIT_REACHED,
}

COLLECTION = "gc"
"""The phase of `_compile` (2.7) in which torch collects what the trace has left (`config.run_gc_after_compile`)."""

Restart = Literal["speculation", "other"]


class Observer(Protocol):
    """Receive the events of `CompileHooks`, all on the compiling thread. The methods must not raise."""

    def compile_begins(self) -> None: ...

    def compile_ends(self, frame: Any, compiled: bool, skip_reason: str | None) -> None:
        """Receive the end of a compile; `frame` is Dynamo's view of the frame it was called for.

        `skip_reason` is Dynamo's for a frame it will never compile; "" where it gives none (before 2.13).
        """

    def attempt_restarts(self, kind: Restart, reason: str) -> None:
        """Receive why Dynamo traces the frame again (`exc.RestartAnalysis.restart_reason`, 2.4)."""

    def trace_repeats(self) -> None:
        """Receive that the attempt is traced again after a `Rewind`."""

    def trace_ends(self) -> None:
        """Receive that torch is about to collect what the trace has left: nothing may be kept of it."""

    def code_generated(self, code: types.CodeType, generated: types.CodeType, compile_id: str) -> None: ...


class Gate(Protocol):
    """Decide that a frame is not to be compiled. The methods must not raise."""

    def before(self, code: types.CodeType) -> Any | None:
        """Return the result to use instead of calling Dynamo, or None to call it."""

    def after(self, result: Any) -> Any | None:
        """Return the result to use instead of Dynamo's `result`, or None to keep it."""

    def abandoned(self, code: types.CodeType, error: BaseException) -> Any | None:
        """Return the result for a frame whose compile has failed, or None to raise the error."""


class CompileHooks(Wrapping):
    """Report each call that enters Dynamo, and each attempt at tracing, to an observer."""

    def __init__(self, observer: Observer) -> None:
        from torch._dynamo import convert_frame, exc

        super().__init__()
        self.gate: Gate | None = None
        hooks = self
        # ConvertFrameReturn: `guarded_code` and `apply_to_code` since 2.6, `skip_reason` since 2.13
        entry, trace = self.original(torch_names.CALL_OF_CALLBACK), self.original(torch_names.TRACE_FRAME)
        capture = self.original(torch_names.CAPTURE_FRAME)

        def __call__(self: Any, frame: Any, cache_entry: Any, frame_state: Any) -> Any:
            code, gate = frame.f_code, hooks.gate
            if gate is not None and (uncompiled := gate.before(code)) is not None:
                return uncompiled
            observer.compile_begins()
            compiled, skip_reason = False, None
            try:
                with hidden_frame:
                    result = entry(self, frame, cache_entry, frame_state)
                if hooks.gate is not None:
                    result = hooks.gate.after(result) or result
                made = result.guarded_code
                compiled = made is not None
                if compiled:
                    observer.code_generated(code, made.code, str(made.compile_id))
                elif result.apply_to_code and code not in convert_frame.output_codes:
                    skip_reason = _skip_reason(result)
                return result
            except BaseException as error:
                if hooks.gate is None or (uncompiled := hooks.gate.abandoned(code, error)) is None:
                    raise
                return uncompiled
            finally:
                observer.compile_ends(frame, compiled, skip_reason)

        def capture_frame(frame: Any, *args: Any, **kwargs: Any) -> Any:
            """Report a strict export or an `aot_compile`, which has no eval-frame callback."""
            observer.compile_begins()
            compiled = False
            try:
                with hidden_frame:
                    result = capture(frame, *args, **kwargs)
                compiled = True
                return result
            finally:
                observer.compile_ends(frame, compiled, None)

        def trace_frame(*args: Any, **kwargs: Any) -> Any:
            try:
                with hidden_frame:
                    return trace_until_done(trace, observer.trace_repeats, args, kwargs)
            except exc.RestartAnalysis as error:
                replays = isinstance(error, exc.SpeculationRestartAnalysis)
                observer.attempt_restarts("speculation" if replays else "other", error.restart_reason or "")
                raise

        push_tx = self.original(torch_names.PUSH_TX)

        def enters(output: Any, tx: Any) -> None:
            push_tx(output, tx)
            frame_entered(tx)

        log_event_start = self.original(torch_names.LOG_EVENT_START)

        def event_starts(logger: Any, event_name: str, *args: Any, **kwargs: Any) -> None:
            if event_name == COLLECTION:
                observer.trace_ends()
                collector.collection_begins()
            log_event_start(logger, event_name, *args, **kwargs)

        log_event_end = self.original(torch_names.LOG_EVENT_END)

        def event_ends(logger: Any, event_name: str, *args: Any, **kwargs: Any) -> None:
            log_event_end(logger, event_name, *args, **kwargs)
            if event_name == COLLECTION:
                collector.collection_ends()

        for wrapper in (__call__, capture_frame):
            gives_large_chunk(wrapper)
        self._entries = {__call__.__code__, capture_frame.__code__}
        self._entries_before = {each.__code__ for function in (entry, capture) for each in _layers(function)}
        """Those of a compile that began before this was here: a debugger may come at any time."""
        self.put(torch_names.CALL_OF_CALLBACK, __call__)
        self.put(torch_names.CAPTURE_FRAME, capture_frame)
        self.put(torch_names.TRACE_FRAME, trace_frame)
        self.put(torch_names.PUSH_TX, enters)
        self.put(torch_names.LOG_EVENT_START, event_starts)
        self.put(torch_names.LOG_EVENT_END, event_ends)

    def frame_below(self) -> types.FrameType | None:
        """Return the innermost real frame of the program below this thread's compile."""
        # no name for the frame of this call: it would be in a cycle of references, and all below it with it
        return _caller_of(sys._getframe(), self._entries) or _caller_of(sys._getframe(), self._entries_before)


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


def waits_for_compile_lock(frame: types.FrameType | None) -> bool:
    """Whether a thread whose innermost frame is `frame` waits to compile.

    `CatchErrorsWrapper.__call__` (2.1) takes `convert_frame.compile_lock` (2.0), for one compile at a time.
    """
    if frame is None:
        return False
    code = frame.f_code
    return code.co_name == "__call__" and code.co_filename == sys.modules["torch._dynamo.convert_frame"].__file__


def is_generated(code: types.CodeType) -> bool:
    """Whether Dynamo generated this code (`convert_frame.output_codes`, 2.0)."""
    convert_frame: Any = sys.modules["torch._dynamo.convert_frame"]
    return code in convert_frame.output_codes


def compiled_from(code: types.CodeType) -> types.CodeType:
    """Return the original of generated code (`convert_frame.orig_code_map`, 2.1), or `code`."""
    convert_frame: Any = sys.modules["torch._dynamo.convert_frame"]
    original: types.CodeType = convert_frame.orig_code_map.get(code, code)
    return original
