"""Report to observers what compiled autograd does in each backward.

Whenever its cache has no graph for a backward, the C++ engine makes an `AutogradCompilerInstance` (2.4) and calls it
for every autograd node; `end_capture` returns the function it calls in this and in all later runs. These methods are
wrapped while there are observers, and restored when the last observer is removed.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from dynascope.agent.internals import torch_names
from dynascope.agent.internals.autograd import cache as autograd_cache
from dynascope.agent.internals.autograd.failures import noting_error
from dynascope.agent.internals.autograd.observer import Compiler, Given, Observer, RunGiven
from dynascope.agent.internals.fork_safe_lock import fork_safe
from dynascope.agent.internals.wrapping import Wrapping, is_found
from dynascope.agent.program.tracebacks import hidden_frame

_lock = fork_safe(threading.RLock())
_observers: tuple[Observer, ...] = ()
_wrapping = Wrapping()


def observe(observer: Observer) -> None:
    """Report every backward to `observer` from now on (wraps `AutogradCompilerInstance`, 2.4)."""
    global _observers
    with _lock:
        _observers = (*_observers, observer)
        if len(_observers) == 1:
            _wrap()


def unobserve(observer: Observer) -> None:
    """Remove an observer; the last one restores Dynamo's methods. Captured graphs keep working."""
    global _observers
    with _lock:
        _observers = tuple(each for each in _observers if each is not observer)
        if not _observers:
            _unwrap()


def capture_id(compiler: Compiler) -> str:
    """Return `!0`, the prefix of the compile ids of this capture (`CompileId`, 2.7)."""
    number = compiler.__dict__.get("id")
    return f"!{number}" if number is not None else "!?"


def graph_of(compiler: Compiler) -> Any:
    """Return the FX graph being built (`fx_tracer.graph`, 2.1); None before the capture begins."""
    return getattr(compiler.__dict__.get("fx_tracer"), "graph", None)


def compiler_name(compiler: Compiler) -> str:
    """Return the name of the graph's compiler (`AutogradCompilerInstance.compiler_fn`, 2.1)."""
    function = compiler.__dict__.get("compiler_fn")
    for _ in range(8):
        function = getattr(function, "__wrapped__", None) or getattr(function, "func", None) or function
    return str(getattr(function, "__qualname__", None) or type(function).__qualname__)


def is_binding_inputs(depth: int) -> bool:
    """Whether the caller `depth` frames up only labels inputs (`bind_objects_to_proxies`, 2.6)."""
    return sys._getframe(depth).f_code.co_name == "bind_objects_to_proxies"


def _wrap() -> None:
    global _wrapping
    import torch._dynamo.compiled_autograd  # noqa: F401

    _wrapping = Wrapping()
    wrappers = {
        torch_names.SET_NODE_ORIGIN: _set_node_origin,
        torch_names.LOG_COMPILE_REASONS: _log_compile_reasons,
        torch_names.CREATE_GRAPH_MODULE: _create_graph_module,
        **{name: _hook_wrapper(kind) for kind, name in torch_names.HOOK_CALLS.items()},
        **{name: _pass_wrapper(graph_pass) for graph_pass, name in torch_names.PASSES.items()},
    }
    _wrapping.call_instead(torch_names.BEGIN_CAPTURE, _begin_capture)
    _wrapping.call_instead(torch_names.END_CAPTURE, _end_capture)
    for name, wrapper in wrappers.items():
        if is_found(name) or not name.may_be_absent:
            _wrapping.put(name, wrapper(_wrapping.original(name)))
    if not _wrapping.is_removed:
        autograd_cache.listen()


def _unwrap() -> None:
    _wrapping.remove()
    autograd_cache.ignore()


def _begin_capture(
    original: Any, compiler: Any, inputs: Any, sizes: Any, scalars: Any, origins: Any, *flags: Any
) -> Any:
    reasons = autograd_cache.reasons()
    compiler.close = _closing(compiler, compiler.close)
    shown = origins if autograd_cache.logs_verbosely() else [[], [], []]
    with noting_error(compiler), hidden_frame:
        result = original(compiler, inputs, sizes, scalars, shown, *flags)
    given = Given(result[1], inputs, result[2], result[3], origins, bool(flags[0]), bool(flags[1]), reasons)
    for observer in _observers:
        observer.capture_begins(compiler, given)
    return result


def _set_node_origin(original: Any) -> Any:
    def set_node_origin(self: Any, node_name: str, nodecall_index: int, pyobj: Any, *more: Any) -> Any:
        with hidden_frame:
            result = original(self, node_name, nodecall_index, pyobj, *more)
        if not is_binding_inputs(2):
            for observer in _observers:
                observer.node_called(self, nodecall_index, node_name, pyobj)
        return result

    return set_node_origin


def _log_compile_reasons(original: Any) -> Any:
    def log_compile_reasons(self: Any, compile_reasons: Any) -> Any:
        # torch calls it because a logger is set; when only Dynascope's is, its log must not change
        with hidden_frame:
            return original(self, compile_reasons) if autograd_cache.logs_verbosely() else None

    return log_compile_reasons


def _hook_wrapper(kind: str) -> Callable[[Any], Any]:
    position = 0 if kind == "unpack_hook" else {"post_hook": 2}.get(kind, 1)

    def wrapper(original: Any) -> Any:
        def call_hook(self: Any, *args: Any) -> Any:
            with hidden_frame:
                result = original(self, *args)
            for observer in _observers:
                observer.hook_called(self, kind, int(args[position]))
            return result

        return call_hook

    return wrapper


def _pass_wrapper(name: str) -> Callable[[Any], Any]:
    def wrapper(original: Any) -> Any:
        def run_pass(self: Any, *args: Any) -> Any:
            for observer in _observers:
                observer.pass_begins(self, name)
            with hidden_frame:
                result = original(self, *args)
            for observer in _observers:
                observer.pass_ends(self, name, result)
            return result

        return run_pass

    return wrapper


def _create_graph_module(original: Any) -> Any:
    def create_graph_module(self: Any, *args: Any) -> Any:
        with hidden_frame:
            module = original(self, *args)
        for observer in _observers:
            observer.graph_made(self, module)
        return module

    return create_graph_module


def _end_capture(original: Any, compiler: Any, outputs: Any) -> Any:
    with noting_error(compiler), hidden_frame:
        run, compiled = original(compiler, outputs)
    autograd_cache.capture_ends()
    _tell_end(compiler, failed=False)
    return _observed_run(compiler, run), compiled


def _closing(compiler: Compiler, close: Callable[[], None]) -> Callable[[], None]:
    """Report the end of a capture when the engine closes it, also after an exception."""

    def close_capture() -> None:
        close()
        _tell_end(compiler, failed=True)

    return close_capture


def _tell_end(compiler: Compiler, failed: bool) -> None:
    if not compiler.__dict__.get("_dynascope_has_ended"):
        compiler.__dict__["_dynascope_has_ended"] = True
        for observer in _observers:
            observer.capture_ends(compiler, failed)


def _observed_run(compiler: Compiler, run: Any) -> Any:
    """Wrap the function of all runs; it stays in torch's cache, and works without observers."""

    def run_captured_backward(compiled: Any, inputs: Any, sizes: Any, scalars: Any, hooks: Any, *more: Any) -> Any:
        observers = _observers
        if not observers:
            with hidden_frame:
                return run(compiled, inputs, sizes, scalars, hooks, *more)
        error: BaseException | None = None
        given = RunGiven(inputs, sizes, scalars, hooks)
        for observer in observers:
            observer.run_begins(compiler, given)

        def run_graph(*args: Any) -> Any:
            for observer in observers:
                observer.graph_begins(compiler)
            try:
                with hidden_frame:
                    return compiled(*args)
            finally:
                for observer in observers:
                    observer.graph_ends(compiler)

        try:
            with hidden_frame:
                return run(run_graph, inputs, sizes, scalars, hooks, *more)
        except BaseException as raised:
            error = raised
            raise
        finally:
            for observer in observers:
                observer.run_ends(compiler, error)
            error = None

    return run_captured_backward
