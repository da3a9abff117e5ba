"""Contexts that turn compiled autograd on and off. See `dynascope.compiled_autograd`."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch

from dynascope.agent.backward.runtime import run_reporter
from dynascope.agent.backward.runtime.report import BackwardRun
from dynascope.agent.backward.runtime.run_reporter import RunReporter
from dynascope.agent.events.autograd import compiler_switch
from dynascope.agent.events.autograd.compiler_switch import GraphCompiler, Switch
from dynascope.agent.internals.autograd import state as autograd_state
from dynascope.agent.isolation.unseen import never_trace
from dynascope.agent.program.threads import fork_safe
from dynascope.agent.program.user_code import OUR_FOLDER

_lock = fork_safe(threading.RLock())
_recorder: RunReporter | None = None


def _reporter() -> RunReporter:
    """Return the process's recorder, kept since a captured graph may run in another context."""
    global _recorder
    with _lock:
        if _recorder is None:
            _recorder = run_reporter.acquire()
            never_trace([os.path.join(OUR_FOLDER, "agent")])
        return _recorder


@contextmanager
def enable(compiler_fn: GraphCompiler, dynamic: bool = True) -> Iterator[list[BackwardRun]]:
    if not callable(compiler_fn):
        raise TypeError(
            "compiled_autograd.enable(compiler_fn) needs a function that takes the captured graph, such as "
            f"torch.compile; it got {compiler_fn!r}."
        )
    with ExitStack() as stack:
        runs = stack.enter_context(record())
        if not compiler_switch.forces_eager():
            compiler_switch.prepare_cuda()
            switch = Switch(compiler_fn, bool(dynamic))
            stack.callback(switch.undo)  # before apply, since Ctrl-C may come between the two
            switch.apply()
            stack.enter_context(torch.autograd.set_multithreading_enabled(False))
        yield runs


@contextmanager
def disable() -> Iterator[None]:
    switch = Switch(None)
    try:
        switch.apply()
        yield
    finally:
        switch.undo()


def reset() -> None:
    if autograd_state.runs_compiled_backward() or autograd_state.is_capturing():
        raise RuntimeError(
            "compiled_autograd.reset() was called from inside a captured backward: call it when backward() is over."
        )
    compiler_switch.turn_off_for_good()


@contextmanager
def record() -> Iterator[list[BackwardRun]]:
    runs: list[BackwardRun] = []
    reporter = _reporter()
    try:
        reporter.add(runs.append)
        yield runs
    finally:
        reporter.discard(runs.append)
