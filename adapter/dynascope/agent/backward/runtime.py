"""Compiled autograd as a public runtime: contexts that turn it on and off. See `dynascope.compiled_autograd`."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch

from dynascope.agent.backward.recorder import Recorder
from dynascope.agent.backward.report import BackwardRun
from dynascope.agent.internals import autograd_compiler, compiled_autograd, trace_rules
from dynascope.agent.internals.autograd_compiler import GraphCompiler, Switch
from dynascope.agent.user_code import OUR_FOLDER

_lock = threading.Lock()
_recorder: Recorder | None = None


def _watching() -> Recorder:
    """The process's recorder: once there it stays, for a graph captured under one context may run under another."""
    global _recorder
    with _lock:
        if _recorder is None:
            _recorder = Recorder()
            compiled_autograd.observe(_recorder)
            trace_rules.never_trace([os.path.join(OUR_FOLDER, "agent")])
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
        if not autograd_compiler.forces_eager():
            autograd_compiler.prepare_cuda()
            switch = Switch(compiler_fn, bool(dynamic))
            switch.apply()
            stack.callback(switch.undo)
            stack.enter_context(torch.autograd.set_multithreading_enabled(False))
        yield runs


@contextmanager
def disable() -> Iterator[None]:
    switch = Switch(None)
    switch.apply()
    try:
        yield
    finally:
        switch.undo()


def reset() -> None:
    if compiled_autograd.runs_compiled_backward():
        raise RuntimeError(
            "compiled_autograd.reset() was called from inside a captured backward: call it when backward() is over."
        )
    autograd_compiler.turn_off_for_good()


@contextmanager
def record() -> Iterator[list[BackwardRun]]:
    runs: list[BackwardRun] = []
    recorder = _watching()
    recorder.add(runs.append)
    try:
        yield runs
    finally:
        recorder.discard(runs.append)
