"""Report the events of a compile to the recording: begin, attempts, backend, recompile reasons, end."""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass, field
from typing import Any, Protocol

from dynascope.agent.internals import torch_names
from dynascope.agent.internals.compile.compile_context import compile_id_and_attempt
from dynascope.agent.internals.compile.convert_frame import hear_collection
from dynascope.agent.internals.compile.recompile_events import RecompileEvents
from dynascope.agent.internals.compile.retrace import is_repeated
from dynascope.agent.internals.hook_failures import HookFailures


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
    """Receive the events, all on the compiling thread."""

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

    def trace_ends(self) -> None:
        """Receive that torch is about to collect what the trace has left."""

    def compile_ends(self, token: Any, ending: Ending) -> None: ...

    def frame_skipped(self, code: types.CodeType, reason: str) -> None: ...


class CompileEvents(RecompileEvents):
    """Report the events of each compile to an observer."""

    def __init__(self, observer: Observer, failures: HookFailures) -> None:
        super().__init__(observer.recompiles, failures, observer.recompiles)
        self._observer = observer
        self.call_around(torch_names.COMPILE, self._compile_begins, self._compile_ends)
        self.call_around(torch_names.CAPTURE_FRAME, self._capture_begins, self._capture_ends)
        self.call_after(torch_names.CALL_OF_CALLBACK, self._callback_returns)
        self.call_around(
            torch_names.CALL_USER_COMPILER,
            lambda output, gm, *args, **kwargs: observer.backend_begins(output, gm),
            lambda *ending: observer.backend_ends(),
        )
        self.call_around(
            torch_names.RUN_COMPILER_COLLECTIVE,
            lambda *args, **kwargs: observer.rank_wait_begins(),
            lambda *ending: observer.rank_wait_ends(),
        )
        hear_collection(self, observer.trace_ends)
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

    def _compile_begins(self, code: types.CodeType, *args: Any, **kwargs: Any) -> Any:
        arguments, is_full_graph = args[1] if len(args) > 1 else {}, len(args) > 5 and bool(args[5])
        token = self._observer.compile_begins(code, str(kwargs.get("compile_id")), arguments)
        return token, arguments, is_full_graph, kwargs.get("convert_frame_box")

    def _compile_ends(self, begun: Any, result: Any, error: BaseException | None) -> None:
        token, arguments, is_full_graph, box = begun
        if error is not None:
            self._kept = []  # building the guards may have failed
            ending = Ending(error=error, is_raised=is_full_graph or raises(error, box))
        else:
            made, skipped = getattr(result, "guarded_code", None), getattr(result, "skip_reason", None)
            code_made, guards = getattr(made, "code", None), getattr(made, "guard_manager", None)
            ending = Ending(made is not None, skipped, code=code_made, guards=guards, arguments=arguments)
        self._observer.compile_ends(token, ending)

    def _capture_begins(self, frame: Any, *args: Any, **kwargs: Any) -> Any:
        """Report a strict export or an `aot_compile`, which do not use `_compile`."""
        return self._observer.compile_begins(frame.code, compile_id_and_attempt()[0], frame.locals)

    def _capture_ends(self, token: Any, result: Any, error: BaseException | None) -> None:
        is_compiled = error is None
        self._observer.compile_ends(token, Ending(is_compiled, error=error, is_raised=not is_compiled, is_capture=True))

    def _callback_returns(self, result: Any, callback: Any, frame: Any, cache_entry: Any, frame_state: Any) -> None:
        reason = getattr(result, "skip_reason", None)
        if reason:
            self._observer.frame_skipped(frame.f_code, reason)


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
