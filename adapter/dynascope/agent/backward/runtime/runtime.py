"""Turn compiled autograd on and off in contexts, and report every backward under it: `dynascope.compiled_autograd`."""

from __future__ import annotations

import itertools
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

import torch

from dynascope.agent.backward.captures.capture_reasons import explain
from dynascope.agent.backward.captures.captures import Capture, Captures
from dynascope.agent.backward.runtime.report import BackwardRun, DeviceInputs, HookCall
from dynascope.agent.events.autograd import compiler_switch
from dynascope.agent.events.autograd.compiled_autograd import (
    BackwardEvents,
    BackwardObserver,
    Compiler,
    Given,
    RunGiven,
)
from dynascope.agent.events.autograd.compiler_switch import GraphCompiler, Switch
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.inspection.values.locations import place_of
from dynascope.agent.internals.autograd import state as autograd_state
from dynascope.agent.isolation.unseen import never_trace
from dynascope.agent.program.threads import fork_safe
from dynascope.agent.program.user_code import OUR_FOLDER

_log = logging.getLogger("dynascope")
_REUSED = ("the same nodes with the same constants as when it was captured; sizes that differ are dynamic",)
_FAILED = "dynascope failed while it observed a backward; the backward continues.\n"
T = TypeVar("T")


_lock = fork_safe(threading.RLock())
_users = 0
_recorder: RunReporter | None = None


def acquire() -> RunReporter:
    """Return the recorder of the process, which observes captures while it has users."""
    global _users, _recorder
    with _lock:
        if _recorder is None:
            _recorder = RunReporter()
        _users += 1
        return _recorder


def release() -> None:
    """Release the recorder that `acquire` returned."""
    global _users, _recorder
    with _lock:
        _users -= 1
        if not _users and _recorder is not None:
            _recorder.events.remove()
            _recorder = None


class _Run:
    """The measurements of a run in progress."""

    def __init__(self, given: RunGiven, capture: Capture) -> None:
        self.captured = capture.runs == 0 and capture.milliseconds is not None
        self.began = time.perf_counter()
        self.graph_began = self.graph_ended = self.began
        self.inputs = _kept(capture.inputs, inputs_by_device(given.inputs))
        self.moved_bytes = sum(bytes_of(given.inputs[i]) for i in capture.moved_to_cuda if i < len(given.inputs))
        hooks = tuple(_hook_call(hook.kind, hook.node_call, hook.position, given.hooks) for hook in capture.hooks)
        self.hooks = capture.hook_calls = _kept(capture.hook_calls, hooks)
        self.timed = any(device.startswith("cuda") for device in self.inputs) and can_time_cuda()
        self.events: tuple[Any, Any] | None = None


class RunReporter(BackwardObserver):
    """Observe compiled autograd; receivers get reports on the thread that ran the backward."""

    def __init__(self) -> None:
        self.captures = Captures()
        self._receivers: tuple[Callable[[BackwardRun], None], ...] = ()
        self._numbers = itertools.count()
        self._running: dict[int, _Run] = {}
        self.events = BackwardEvents(self, HookFailures(lambda trace: _log.error("%s%s", _FAILED, trace)))

    def add(self, receive: Callable[[BackwardRun], None]) -> None:
        with _lock:
            self._receivers = (*self._receivers, receive)

    def discard(self, receive: Callable[[BackwardRun], None]) -> None:
        with _lock:
            self._receivers = tuple(each for each in self._receivers if each != receive)

    # ---- BackwardObserver

    def capture_begins(self, compiler: Compiler, given: Given) -> None:
        self.captures.begins(compiler, given).inputs = inputs_by_device(given.tensors)

    def node_called(self, compiler: Compiler, index: int, name: str, function: Any) -> None:
        self.captures.node_called(compiler, index, name)

    def hook_called(self, compiler: Compiler, kind: str, hook: int) -> None:
        self.captures.hook_called(compiler, kind, hook)

    def pass_ends(self, compiler: Compiler, name: str, result: Any) -> None:
        if name == "move_graph_nodes_to_cuda":
            self.captures.moved(compiler, result)

    def capture_ends(self, compiler: Compiler, failed: bool) -> None:
        capture = self.captures.ends(compiler, failed)
        if failed and self._receivers:
            self._report(
                capture,
                captured=False,
                reasons=explain(capture, self.captures.before(capture)),
                hooks=tuple(HookCall(hook.kind, hook.node_call) for hook in capture.hooks),
                inputs=capture.inputs,
                moved_to_cuda=(),
                moved_bytes=0,
                capture_ms=capture.milliseconds,
                prepare_ms=0.0,
                graph_ms=0.0,
                error=autograd_state.error_of(compiler) or "an error between two nodes",
                capture_failed=True,
            )

    def run_begins(self, compiler: Compiler, given: RunGiven) -> None:
        if self._receivers:
            self._running[threading.get_ident()] = _Run(given, self.captures.of(compiler))

    def graph_begins(self, compiler: Compiler) -> None:
        run = self._running.get(threading.get_ident())
        if run is None:
            return
        run.graph_began = time.perf_counter()
        if run.timed:
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            run.events = begin, end

    def graph_ends(self, compiler: Compiler) -> None:
        run = self._running.get(threading.get_ident())
        if run is not None:
            run.graph_ended = time.perf_counter()
            if run.events is not None:
                run.events[1].record()

    def run_ends(self, compiler: Compiler, error: BaseException | None) -> None:
        run = self._running.pop(threading.get_ident(), None)
        capture = self.captures.of(compiler)
        capture.runs += 1
        if run is None:
            return
        self._report(
            capture,
            captured=run.captured,
            reasons=explain(capture, self.captures.before(capture)) if run.captured else _REUSED,
            hooks=run.hooks,
            inputs=run.inputs,
            moved_to_cuda=capture.moved_to_cuda,
            moved_bytes=run.moved_bytes,
            capture_ms=capture.milliseconds if run.captured else None,
            prepare_ms=(run.graph_began - run.began) * 1000,
            graph_ms=(run.graph_ended - run.graph_began) * 1000,
            error=None if error is None else autograd_state.error_text(error),
            events=run.events,
        )

    def _report(self, capture: Capture, **measured: Any) -> None:
        report = BackwardRun(next(self._numbers), capture.compile_id, node_calls=capture.all_names, **measured)
        for receive in self._receivers:
            receive(report)


def _kept(earlier: T, current: T) -> T:
    """Return `known` if it is equal, so that reports of a million backwards share it."""
    return earlier if earlier == current else current


def inputs_by_device(inputs: Sequence[Any]) -> dict[str, DeviceInputs]:
    devices: dict[str, DeviceInputs] = {}
    for tensor in inputs:
        device = str(tensor.device)
        before = devices.get(device, DeviceInputs(0, 0))
        devices[device] = DeviceInputs(before.count + 1, before.bytes + bytes_of(tensor))
    return devices


def bytes_of(tensor: Any) -> int:
    """Return the size of a tensor's elements; for a sparse one, of its values and indices."""
    if tensor.layout is torch.strided:
        return int(tensor.numel()) * int(tensor.element_size())
    if tensor.layout is torch.sparse_coo:
        return bytes_of(tensor._values()) + bytes_of(tensor._indices())
    return 0


def can_time_cuda() -> bool:
    """Whether events can be recorded: a GPU is in use, and no CUDA graph is being captured."""
    return torch.cuda.is_available() and torch.cuda.is_initialized() and not torch.cuda.is_current_stream_capturing()


def _hook_call(kind: str, node_call: int, position: int | None, hooks: Sequence[Any]) -> HookCall:
    if position is None or position >= len(hooks):
        return HookCall(kind, node_call)
    place = place_of(hooks[position])
    return HookCall(kind, node_call, place.name, place.path, place.line)


_kept_reporter: RunReporter | None = None


def _reporter() -> RunReporter:
    """Return the process's recorder, kept since a captured graph may run in another context."""
    global _kept_reporter
    with _lock:
        if _kept_reporter is None:
            _kept_reporter = acquire()
            never_trace([os.path.join(OUR_FOLDER, "agent")])
        return _kept_reporter


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
