"""Define the events of a captured backward: `compiled_autograd` calls a `BackwardObserver` as the backward runs."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dynascope.agent.events import torch_names
from dynascope.agent.events.autograd import cache as autograd_cache
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.events.wrapping import Events
from dynascope.agent.internals.autograd import cache_keys
from dynascope.agent.internals.autograd import nodes as autograd_nodes
from dynascope.agent.internals.autograd.cache_keys import NodeKey
from dynascope.agent.internals.autograd.state import error_text, is_binding_inputs
from dynascope.agent.program.threads import fork_safe, hidden_frame

Compiler = Any
"""An `AutogradCompilerInstance` of torch._dynamo.compiled_autograd: one capture."""


class BackwardObserver:
    """Called on the thread that runs the backward; it must not keep a tensor alive."""

    def capture_begins(self, compiler: Compiler, given: Given) -> None: ...

    def node_called(self, compiler: Compiler, index: int, name: str, function: Any) -> None: ...

    def hook_called(self, compiler: Compiler, kind: str, hook: int) -> None: ...

    def pass_begins(self, compiler: Compiler, name: str) -> None: ...

    def pass_ends(self, compiler: Compiler, name: str, result: Any) -> None: ...

    def graph_made(self, compiler: Compiler, module: Any) -> None: ...

    def capture_ends(self, compiler: Compiler, failed: bool) -> None: ...

    def run_begins(self, compiler: Compiler, given: RunGiven) -> None: ...

    def graph_begins(self, compiler: Compiler) -> None: ...

    def graph_ends(self, compiler: Compiler) -> None: ...

    def run_ends(self, compiler: Compiler, error: BaseException | None) -> None: ...


@dataclass(slots=True, eq=False)
class Given:
    """The inputs of a capture: lists of fakes and symbols, and the NodeCall `(index, name)` each was lifted for."""

    inputs: Sequence[Any]
    tensors: Sequence[Any]
    """The real tensors of `inputs`."""
    sizes: Sequence[Any]
    scalars: Sequence[Any]
    origins: Sequence[Sequence[tuple[int, str]]]
    """One list each for inputs, sizes and scalars, empty where torch gave none."""
    accumulates: bool
    check_nans: bool
    reasons: Sequence[str]
    """Torch's texts of why no graph in the cache could be used; empty where they were not requested."""
    _keys: list[NodeKey] | None = None

    def keys(self) -> list[NodeKey]:
        """Return this backward's node keys; call it while the capture begins, on its thread."""
        if self._keys is None:
            call = autograd_nodes.backward_call()
            self._keys = cache_keys.keys_of(call, self.accumulates, self.tensors, self.origins[0])
        return self._keys


@dataclass(slots=True, eq=False)
class RunGiven:
    """The arguments of one run of a captured backward: real tensors, numbers, and the hooks' functions."""

    inputs: Sequence[Any]
    sizes: Sequence[int]
    scalars: Sequence[Any]
    hooks: Sequence[Any]


_lock = fork_safe(threading.RLock())
_observed: tuple[BackwardEvents, ...] = ()
_captures = Events()


class BackwardEvents(Events):
    """Report every backward to an observer, until `remove`. Captured graphs keep working without one."""

    def __init__(self, observer: BackwardObserver, failures: HookFailures) -> None:
        import torch._dynamo.compiled_autograd  # noqa: F401

        super().__init__(failures)
        self.observer = observer
        self.call_after(torch_names.SET_NODE_ORIGIN, self._node_called)
        self.call_after(
            torch_names.CREATE_GRAPH_MODULE, lambda module, compiler, *args: observer.graph_made(compiler, module)
        )
        for kind, name in torch_names.HOOK_CALLS.items():
            self.call_after(name, functools.partial(self._hook_called, kind))
        for graph_pass, name in torch_names.PASSES.items():
            begins, ends = (functools.partial(each, graph_pass) for each in (self._pass_begins, self._pass_ends))
            self.call_around(name, begins, ends)
        global _observed
        with _lock:
            _observed = (*_observed, self)
            if len(_observed) == 1:
                _begin()

    def remove(self) -> None:
        super().remove()
        global _observed
        with _lock:
            _observed = tuple(each for each in _observed if each is not self)
            if not _observed:
                _captures.remove()
                autograd_cache.ignore()

    def _node_called(self, _: None, compiler: Compiler, name: str, index: int, function: Any, *more: Any) -> None:
        if not is_binding_inputs(4):
            self.observer.node_called(compiler, index, name, function)

    def _hook_called(self, kind: str, _: Any, compiler: Compiler, *args: Any) -> None:
        position = 0 if kind == "unpack_hook" else {"post_hook": 2}.get(kind, 1)
        self.observer.hook_called(compiler, kind, int(args[position]))

    def _pass_begins(self, name: str, compiler: Compiler, *args: Any) -> Compiler:
        self.observer.pass_begins(compiler, name)
        return compiler

    def _pass_ends(self, name: str, compiler: Compiler, result: Any, error: BaseException | None) -> None:
        if error is None:
            self.observer.pass_ends(compiler, name, result)


def _begin() -> None:
    global _captures
    _captures = Events()
    _captures.call_instead(torch_names.BEGIN_CAPTURE, _begin_capture)
    _captures.call_instead(torch_names.END_CAPTURE, _end_capture)
    _captures.call_instead(torch_names.LOG_COMPILE_REASONS, _log_compile_reasons)
    if not _captures.is_removed:
        autograd_cache.listen()


def _tell(observed: tuple[BackwardEvents, ...], event: str, *given: Any) -> None:
    for each in observed:
        with each.failures:
            getattr(each.observer, event)(*given)


def _begin_capture(
    original: Any, compiler: Any, inputs: Any, sizes: Any, scalars: Any, origins: Any, *flags: Any
) -> Any:
    reasons = autograd_cache.reasons()
    compiler.close = _closing(compiler, compiler.close)
    shown = origins if autograd_cache.logs_verbosely() else [[], [], []]
    with _noting_error(compiler), hidden_frame:
        result = original(compiler, inputs, sizes, scalars, shown, *flags)
    given = Given(result[1], inputs, result[2], result[3], origins, bool(flags[0]), bool(flags[1]), reasons)
    _tell(_observed, "capture_begins", compiler, given)
    return result


def _log_compile_reasons(original: Any, compiler: Compiler, compile_reasons: Any) -> Any:
    # torch calls it because a logger is set; when only Dynascope's is, its log must not change
    return original(compiler, compile_reasons) if autograd_cache.logs_verbosely() else None


@contextlib.contextmanager
def _noting_error(compiler: Any) -> Iterator[None]:
    """Record an error on its capture: the engine closes a failed capture without its error."""
    try:
        yield
    except BaseException as error:
        compiler.__dict__["_dynascope_error"] = error_text(error)
        raise


def _end_capture(original: Any, compiler: Any, outputs: Any) -> Any:
    with _noting_error(compiler), hidden_frame:
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
        _tell(_observed, "capture_ends", compiler, failed)


def _observed_run(compiler: Compiler, run: Any) -> Any:
    """Wrap the function of all runs; it stays in torch's cache, and works without observers."""

    def run_captured_backward(compiled: Any, inputs: Any, sizes: Any, scalars: Any, hooks: Any, *more: Any) -> Any:
        observed = _observed
        if not observed:
            with hidden_frame:
                return run(compiled, inputs, sizes, scalars, hooks, *more)
        error: BaseException | None = None
        given = RunGiven(inputs, sizes, scalars, hooks)
        _tell(observed, "run_begins", compiler, given)

        def run_graph(*args: Any) -> Any:
            _tell(observed, "graph_begins", compiler)
            try:
                with hidden_frame:
                    return compiled(*args)
            finally:
                _tell(observed, "graph_ends", compiler)

        try:
            with hidden_frame:
                return run(run_graph, inputs, sizes, scalars, hooks, *more)
        except BaseException as raised:
            error = raised
            raise
        finally:
            _tell(observed, "run_ends", compiler, error)
            error = None

    return run_captured_backward


Captured = Callable[[str, int, float], None]
"""Called with the capture's id as Dynamo writes it (`!0`), the number of operations, and the seconds it took."""


class CaptureEvents(Events):
    """Call `captured` when a capture has made a graph."""

    def __init__(self, captured: Captured, now: Callable[[], float], failures: HookFailures) -> None:
        super().__init__(failures)
        began: dict[int, float] = {}

        def begins(compiler: Any, *args: Any, **kwargs: Any) -> None:
            began[id(compiler)] = now()

        def ends(_: Any, compiler: Any, *args: Any, **kwargs: Any) -> None:
            ended = now()
            graph = getattr(getattr(compiler, "fx_tracer", None), "graph", None)
            nodes = sum(node.op not in ("placeholder", "output", "get_attr") for node in graph.nodes) if graph else 0
            captured(f"!{getattr(compiler, 'id', '?')}", nodes, ended - began.pop(id(compiler), ended))

        self.call_before(torch_names.BEGIN_CAPTURE, begins)
        self.call_after(torch_names.END_CAPTURE, ends)
