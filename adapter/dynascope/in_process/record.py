"""Record a block of a program: `dynascope.record()`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import TracebackType
from typing import ParamSpec, TypeVar

from dynascope.agent.program import collector
from dynascope.agent.recorder.installation import FACTS_ONLY, RecorderInstallation
from dynascope.facts.in_progress import Board
from dynascope.in_process.memory import MemoryStore
from dynascope.in_process.recording import Recording

P = ParamSpec("P")
R = TypeVar("R")
_GO_ON = inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction
"""Tell the functions that have not run when their call returns."""


class RecordedBlock:
    """A context manager and decorator that records the compiles of its block."""

    def __init__(self, graphs: bool) -> None:
        self._graphs = graphs
        self._entered: list[RecorderInstallation] = []
        self._trace: Recording | None = None

    @property
    def trace(self) -> Recording:
        """Return the newest recording. Raises RuntimeError before there is one."""
        if self._trace is None:
            raise RuntimeError("Nothing has been recorded yet: the block, or the decorated function, has not run.")
        return self._trace

    def __enter__(self) -> Recording:
        collector.prepare()
        collector.hook_begins()
        try:
            store = MemoryStore()
            self._entered.append(RecorderInstallation(store, Board(), "" if self._graphs else FACTS_ONLY))
            trace = self._trace = Recording(store)
        finally:
            collector.hook_ends()
        return trace

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if not self._entered:
            raise RuntimeError("The block was not entered, or has been left already.")
        collector.hook_begins()
        try:
            self._entered.pop().remove()
        finally:
            collector.hook_ends()

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return a function that records each of its calls; `trace` is the newest.

        Raises TypeError for coroutines and generators, whose calls return before they have run.
        """
        if isinstance(function, type):
            raise TypeError(f"{function.__qualname__} is a class. Decorate one of its methods.")
        if any(goes_on(function) for goes_on in _GO_ON):
            name = getattr(function, "__qualname__", function)
            raise TypeError(f"{name} goes on after its call returns. Write `with dynascope.record():` in it.")

        @functools.wraps(function)
        def recorded(*args: P.args, **kwargs: P.kwargs) -> R:
            with RecordedBlock(self._graphs) as self._trace:  # of its own: threads may call it at the same time
                return function(*args, **kwargs)

        return recorded


def record(*, graphs: bool = False) -> RecordedBlock:
    """Record what torch.compile compiles in a block, without files.

        with dynascope.record() as trace:
            model(x)
        print(trace)
        trace.check(graph_breaks=0)

    Compiles of all threads of this process are recorded. As a decorator it records each call of a function. With
    `graphs`, `trace.graphs` have their code. Blocks may be nested, and record beside `dynascope run` and a debugger.
    Code that was compiled before is not compiled again: see `torch._dynamo.reset`. A compile that has begun before the
    block is not recorded; one that ends after it is.
    """
    return RecordedBlock(graphs)
