"""The life of a compile, for whoever records it: begin, attempts, backend, recompile reasons, end.

The name matters: the stacks Dynamo shows to users end at the first file that has "convert_frame" in its name.
"""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass
from typing import Any, Protocol

from dynascope.agent.internals.compile.frame_chunk import gives_large_chunk


@dataclass(slots=True)
class Ending:
    """How a compile ended: one of the three is set, or none when it was given up without saying why."""

    compiled: bool = False
    skip_reason: str | None = None
    error: BaseException | None = None


class Observer(Protocol):
    """All on the compiling thread. None of them may raise."""

    def compile_begins(self, code: types.CodeType, compile_id: str, full_graph: bool) -> Any: ...

    def attempt_begins(self) -> None: ...

    def recompiles(self, reasons: list[str], frame: Any) -> None: ...

    def backend_begins(self, output: Any, graph_module: Any) -> None: ...

    def backend_ends(self) -> None: ...

    def guards_built(self, output: Any) -> None: ...

    def compile_ends(self, token: Any, ending: Ending) -> None: ...

    def frame_skipped(self, code: types.CodeType, reason: str) -> None: ...


class CompileEvents:
    """Wraps `convert_frame._compile` (2.0), `.trace_frame` (2.9), `.get_and_maybe_log_recompilation_reasons` (2.5),
    `.CatchErrorsWrapper.__call__` (2.1), `.CheckFunctionManager.__init__` (2.0) and
    `output_graph.OutputGraph.call_user_compiler` (2.0)."""

    def __init__(self, observer: Observer) -> None:
        from torch._dynamo import convert_frame, output_graph

        module: Any = convert_frame
        graph_class: Any = output_graph.OutputGraph
        compile_, trace = module._compile, module.trace_frame
        reasons_of = module.get_and_maybe_log_recompilation_reasons
        entry, call_backend = module.CatchErrorsWrapper.__call__, graph_class.call_user_compiler
        build_guards = module.CheckFunctionManager.__init__

        def _compile(code: types.CodeType, *args: Any, **kwargs: Any) -> Any:
            if "skip" in kwargs:
                kwargs["skip"] += 1  # Dynamo counts the frames between it and the program
            token = observer.compile_begins(
                code, str(kwargs.get("compile_id")), bool(args[5]) if len(args) > 5 else False
            )
            try:
                result = compile_(code, *args, **kwargs)
            except BaseException as error:
                observer.compile_ends(token, Ending(error=error))
                raise
            compiled = getattr(result, "guarded_code", None) is not None
            observer.compile_ends(token, Ending(compiled, getattr(result, "skip_reason", None)))
            return result

        def trace_frame(*args: Any, **kwargs: Any) -> Any:
            observer.attempt_begins()
            return trace(*args, **kwargs)

        def get_and_maybe_log_recompilation_reasons(entries: Any, frame: Any, *args: Any, **kwargs: Any) -> Any:
            reasons = reasons_of(entries, frame, *args, **kwargs)
            if not kwargs.get("skip_logging"):
                observer.recompiles(list(reasons), frame)
            return reasons

        def __call__(self: Any, frame: Any, cache_entry: Any, frame_state: Any) -> Any:
            result = entry(self, frame, cache_entry, frame_state)
            reason = getattr(result, "skip_reason", None)
            if reason:
                observer.frame_skipped(frame.f_code, reason)
            return result

        def call_user_compiler(self: Any, gm: Any, *args: Any, **kwargs: Any) -> Any:
            observer.backend_begins(self, gm)
            try:
                return call_backend(self, gm, *args, **kwargs)
            finally:
                observer.backend_ends()

        def __init__(self: Any, f_code: Any, output_graph: Any, *args: Any, **kwargs: Any) -> None:
            build_guards(self, f_code, output_graph, *args, **kwargs)
            observer.guards_built(output_graph)

        module._compile, module.trace_frame = _compile, trace_frame
        module.get_and_maybe_log_recompilation_reasons = get_and_maybe_log_recompilation_reasons
        gives_large_chunk(__call__)
        module.CatchErrorsWrapper.__call__, module.CheckFunctionManager.__init__ = __call__, __init__
        graph_class.call_user_compiler = call_user_compiler
        self._wrapped = [
            (module, "_compile", _compile, compile_),
            (module, "trace_frame", trace_frame, trace),
            (module, "get_and_maybe_log_recompilation_reasons", get_and_maybe_log_recompilation_reasons, reasons_of),
            (module.CatchErrorsWrapper, "__call__", __call__, entry),
            (module.CheckFunctionManager, "__init__", __init__, build_guards),
            (graph_class, "call_user_compiler", call_user_compiler, call_backend),
        ]

    def remove(self) -> None:
        """Take the wrappers out; one that somebody else has wrapped since stays, and passes calls on."""
        for owner, name, wrapper, original in self._wrapped:
            if getattr(owner, name) is wrapper:
                setattr(owner, name, original)


def graph_size(graph_module: Any) -> int:
    """Operations of an FX graph (`torch.fx.GraphModule.graph`, 1.8): inputs, attributes and the output not counted."""
    return sum(node.op not in ("placeholder", "output", "get_attr") for node in graph_module.graph.nodes)


def failure_of_backend(error: BaseException) -> tuple[str, str, str] | None:
    """(backend, exception, message) of an `exc.BackendCompilerFailed` (2.0); None for any other error."""
    kind: Any = sys.modules["torch._dynamo.exc"].BackendCompilerFailed
    if not isinstance(error, kind):
        return None
    inner = getattr(error, "inner_exception", None)
    return str(getattr(error, "backend_name", "?")), type(inner).__name__, str(inner)


def is_swallowed(error: BaseException, full_graph: bool) -> bool:
    """Whether Dynamo turns this error into a frame that runs uncompiled (`exc.Unsupported`, `.SkipFrame`, 2.0)."""
    exceptions: Any = sys.modules["torch._dynamo.exc"]
    kinds = tuple(
        getattr(exceptions, name) for name in ("Unsupported", "SkipFrame", "UserError") if hasattr(exceptions, name)
    )
    return isinstance(error, kinds) and not full_graph


def reached_recompile_limit(error: BaseException | None) -> bool:
    """Whether Dynamo gave up on a function whose cache is full (`exc.FailOnRecompileLimitHit`, 2.6; `Unsupported`)."""
    return error is not None and (
        type(error).__name__ == "FailOnRecompileLimitHit" or "recompile limit exceeded" in str(error)[:200].lower()
    )
