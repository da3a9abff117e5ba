"""Report the events of a compile to the recording: begin, attempts, backend, recompile reasons, end.

The name matters: the stacks Dynamo shows to users end at the first file that has "convert_frame" in its name.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from dynascope.agent.internals import torch_names
from dynascope.agent.internals.compile.compile_context import compile_id_and_attempt
from dynascope.agent.internals.compile.frame_chunk import gives_large_chunk
from dynascope.agent.internals.compile.recompile_events import RecompileEvents
from dynascope.agent.internals.compile.retrace import is_repeated
from dynascope.agent.internals.hook_failures import HookFailures
from dynascope.agent.internals.torch_names import TorchName
from dynascope.agent.internals.wrapping import Events
from dynascope.agent.program.tracebacks import hidden_frame


@dataclass(slots=True)
class Ending:
    """The result of a compile: one of `compiled`, `skip_reason` and `error` is set.

    If Dynamo gave it up without a reason, none of them is.
    """

    compiled: bool = False
    skip_reason: str | None = None
    error: BaseException | None = None
    is_raised: bool = False
    """Whether the program gets the error, unless `config.suppress_errors` is set: else the frame runs uncompiled."""
    code: types.CodeType | None = None
    """The code that Dynamo generated for the frame."""
    guards: Any = None
    """The `GuardManagerWrapper` under which that code is used."""
    is_capture: bool = False
    """Whether it was for the graph alone, in a strict export or an `aot_compile`: no call checks its guards."""
    arguments: dict[str, Any] = field(default_factory=dict)
    """The locals of the frame when it was called."""


class Observer(Protocol):
    """Receive the events, all on the compiling thread. The methods must not raise."""

    def compile_begins(self, code: types.CodeType, compile_id: str, arguments: dict[str, Any]) -> Any: ...

    def attempt_begins(self, is_repeated: bool) -> None:
        """Receive the begin of an attempt; `is_repeated`: it is one that was abandoned."""

    def recompiles(self, reasons: list[str], frame: Any) -> None: ...

    def backend_begins(self, output: Any, graph_module: Any) -> None: ...

    def backend_ends(self) -> None: ...

    def rank_wait_begins(self) -> None: ...

    def rank_wait_ends(self) -> None: ...

    def guards_built(self, output: Any, kept: list[Any]) -> None:
        """Receive the guards of an `OutputGraph` that are kept.

        A `guard_filter_fn` may have dropped some.
        """

    def compile_ends(self, token: Any, ending: Ending) -> None: ...

    def frame_skipped(self, code: types.CodeType, reason: str) -> None: ...


class CompileEvents(Events):
    """Report the events of each compile to an observer."""

    def __init__(self, observer: Observer, failures: HookFailures) -> None:
        super().__init__(failures)
        self._observer = observer
        self._reasons = RecompileEvents(observer.recompiles, failures, observer.recompiles)
        self._wrap_compile()
        self._wrap_capture()
        self._wrap_callback()
        self._call_around(
            torch_names.CALL_USER_COMPILER,
            lambda output, gm, *args, **kwargs: observer.backend_begins(output, gm),
            observer.backend_ends,
        )
        self._call_around(
            torch_names.RUN_COMPILER_COLLECTIVE,
            lambda *args, **kwargs: observer.rank_wait_begins(),
            observer.rank_wait_ends,
        )

        self.call_before(torch_names.TRACE_FRAME, lambda *args, **kwargs: observer.attempt_begins(is_repeated()))
        self._kept: list[Any] = []
        self.call_before(torch_names.BUILD_GUARDS_OF, self._guards_are_built)
        self.call_after(torch_names.BUILD_GUARDS, self._guards_built)

    def _guards_are_built(self, manager: Any, sorted_guards: list[Any], *args: Any, **kwargs: Any) -> None:
        """Note the guards; with a filter torch builds all, then those that are kept."""
        self._kept = list(sorted_guards)

    def _guards_built(self, _: None, manager: Any, f_code: Any, output: Any, *args: Any, **kwargs: Any) -> None:
        kept, self._kept = self._kept, []
        self._observer.guards_built(output, kept)

    def remove(self) -> None:
        self._reasons.remove()
        super().remove()

    def _wrap_compile(self) -> None:
        observer, original = self._observer, self.original(torch_names.COMPILE)

        def _compile(code: types.CodeType, *args: Any, **kwargs: Any) -> Any:
            if "skip" in kwargs:
                kwargs["skip"] += 1  # Dynamo counts the frames between it and the program
            if self.is_removed:
                with hidden_frame:
                    return original(code, *args, **kwargs)
            full_graph = bool(args[5]) if len(args) > 5 else False
            arguments = args[1] if len(args) > 1 else {}
            token = observer.compile_begins(code, str(kwargs.get("compile_id")), arguments)
            try:
                with hidden_frame:
                    result = original(code, *args, **kwargs)
            except BaseException as error:
                is_raised = full_graph or raises(error, kwargs.get("convert_frame_box"))
                self._kept = []  # building the guards may have failed
                observer.compile_ends(token, Ending(error=error, is_raised=is_raised))
                raise
            made = getattr(result, "guarded_code", None)
            skipped = getattr(result, "skip_reason", None)
            code_made, guards = getattr(made, "code", None), getattr(made, "guard_manager", None)
            observer.compile_ends(
                token, Ending(made is not None, skipped, code=code_made, guards=guards, arguments=arguments)
            )
            return result

        self.put(torch_names.COMPILE, _compile)

    def _wrap_capture(self) -> None:
        observer, original = self._observer, self.original(torch_names.CAPTURE_FRAME)

        def _fullgraph_capture_frame(frame: Any, *args: Any, **kwargs: Any) -> Any:
            """Report a strict export or an `aot_compile`, which do not use `_compile`."""
            if self.is_removed:
                with hidden_frame:
                    return original(frame, *args, **kwargs)
            token = observer.compile_begins(frame.code, compile_id_and_attempt()[0], frame.locals)
            try:
                with hidden_frame:
                    result = original(frame, *args, **kwargs)
            except BaseException as error:
                observer.compile_ends(token, Ending(error=error, is_raised=True, is_capture=True))
                raise
            observer.compile_ends(token, Ending(compiled=True, is_capture=True))
            return result

        self.put(torch_names.CAPTURE_FRAME, _fullgraph_capture_frame)

    def _wrap_callback(self) -> None:
        observer, original = self._observer, self.original(torch_names.CALL_OF_CALLBACK)
        events = self

        def __call__(self: Any, frame: Any, cache_entry: Any, frame_state: Any) -> Any:
            with hidden_frame:
                result = original(self, frame, cache_entry, frame_state)
            reason = getattr(result, "skip_reason", None)
            if reason and not events.is_removed:
                observer.frame_skipped(frame.f_code, reason)
            return result

        gives_large_chunk(__call__)
        self.put(torch_names.CALL_OF_CALLBACK, __call__)

    def _call_around(self, name: TorchName, begins: Callable[..., None], ends: Callable[[], None]) -> None:
        original = self.original(name)

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if self.is_removed:
                with hidden_frame:
                    return original(*args, **kwargs)
            begins(*args, **kwargs)
            try:
                with hidden_frame:
                    return original(*args, **kwargs)
            finally:
                ends()

        self.put(name, wrapper)


def graph_size(graph_module: Any) -> int:
    """Count operations in `torch.fx.GraphModule.graph` (1.8), not inputs, attributes and output."""
    return sum(node.op not in ("placeholder", "output", "get_attr") for node in graph_module.graph.nodes)


def failure_of_backend(error: BaseException) -> tuple[str, str, str] | None:
    """Return (backend, exception, message) of an `exc.BackendCompilerFailed` (2.0); else None."""
    kind: Any = sys.modules["torch._dynamo.exc"].BackendCompilerFailed
    if not isinstance(error, kind):
        return None
    inner = getattr(error, "inner_exception", None)
    return str(getattr(error, "backend_name", "?")), type(inner).__name__, str(inner)


def is_soft(error: BaseException) -> bool:
    """Whether Dynamo may run the frame uncompiled for it.

    True for `exc.Unsupported`, `exc.SkipFrame` and `exc.UserError` (2.0).
    """
    exceptions: Any = sys.modules["torch._dynamo.exc"]
    return isinstance(error, (exceptions.Unsupported, exceptions.SkipFrame, exceptions.UserError))


def raises(error: BaseException, box: Any) -> bool:
    """Whether `convert_frame.ConvertFrame.__call__` (2.0) raises the error.

    Else it runs the frame uncompiled. `box` is the `ConvertFrameBox` (2.9) of the compile, which has the
    `error_on_graph_break` of where it broke.
    """
    return not is_soft(error) or bool(getattr(box, "error_on_graph_break", False))


def reached_recompile_limit(error: BaseException | None) -> bool:
    """Whether a function's cache is full (`exc.FailOnRecompileLimitHit`, 2.6; `Unsupported`)."""
    return error is not None and (
        type(error).__name__ == "FailOnRecompileLimitHit" or "recompile limit exceeded" in str(error)[:200].lower()
    )
