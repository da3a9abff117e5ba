"""Stops in a capture: between the nodes that the engine calls, at hooks, and at passes.

Everything here runs on the thread that runs the backward, and is contained: an error of Dynascope is reported, and the
capture continues.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from dynascope.agent.backward.captures.capture_in_progress import LiveCapture, StopPoint
from dynascope.agent.backward.captures.captures import PassRun
from dynascope.agent.backward.inspection import BackwardContext, BackwardInspection
from dynascope.agent.backward.runtime import runtime
from dynascope.agent.backward.runtime.report import BackwardRun
from dynascope.agent.backward.table import BackwardTable
from dynascope.agent.breakpoints.hits import AgentBreakpoint, Hits
from dynascope.agent.events.autograd.compiled_autograd import (
    BackwardEvents,
    BackwardObserver,
    Compiler,
    Given,
    RunGiven,
)
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.inspection.values import locations
from dynascope.agent.internals.autograd import captured_graph
from dynascope.agent.internals.autograd import nodes as autograd_nodes
from dynascope.agent.isolation.isolation import without_modes
from dynascope.agent.suspension.interface import Suspension
from dynascope.agent.suspension.stops import Stop
from dynascope.wire.dap import FunctionBreakpoint
from dynascope.wire.from_agent import ConsoleOutput
from dynascope.wire.messages import Message, ResumeCommand, StopReason

RUN = "runtime_wrapper"
"""PyTorch's name of the function that runs a captured graph, used for the stop just before it."""


class BackwardStepMode(Enum):
    """The end of a thread's step."""

    RUN = "nothing"
    INTO = "the next moment"
    OVER = "the next moment that is no detail"
    OUT = "the end of the nodes"
    LEAVE = "the program, after the backward"


@dataclass(slots=True)
class _Thread:
    """The state of a thread from the begin of a capture to the first run of its graph."""

    live: LiveCapture
    mode: BackwardStepMode = BackwardStepMode.RUN
    token: Any = None
    before: tuple[str, ...] = ()


_FAILED = "dynascope failed while a backward was captured; the capture continues.\n"


class BackwardDebugger(BackwardObserver):
    """Stop in captures as an observer of compiled autograd. `remove` removes it completely."""

    def __init__(
        self,
        wait: Callable[..., ResumeCommand],
        suspension: Suspension,
        send: Callable[[Message], None],
        step_into_compile: Callable[[], None] = lambda: None,
        captured: Callable[[LiveCapture, BackwardTable], None] = lambda live, table: None,
    ) -> None:
        """Call `wait` (`CompileStops.wait`) to stop a thread, and `captured` after every capture.

        `step_into_compile` is called when a step in leaves a capture: it may end in the next compile on the thread.
        """
        self._captured = captured
        self._wait = wait
        self._step_into_compile = step_into_compile
        self._suspension = suspension
        self._send = send
        failures = HookFailures(lambda trace: send(ConsoleOutput(category="important", output=_FAILED + trace)))
        self._hits = Hits(send)
        self._threads: dict[int, _Thread] = {}
        self._table = BackwardTable()
        self.enabled = True
        self._recorder = runtime.acquire()
        self._captures = self._recorder.captures  # the recorder observes first, and notes what is read here
        self._events = BackwardEvents(self, failures)

    @property
    def table(self) -> BackwardTable:
        """Return the breakpoints. Any thread may replace the whole table."""
        return self._table

    @table.setter
    def table(self, table: BackwardTable) -> None:
        self._table = table
        self._recorder.discard(self._report_run)
        if not table.is_empty:  # so that runs are measured only if the user debugs backwards
            self._recorder.add(self._report_run)

    def remove(self) -> None:
        self.enabled = False
        self._events.remove()
        self._recorder.discard(self._report_run)
        runtime.release()

    def _report_run(self, run: BackwardRun) -> None:
        self._send(ConsoleOutput(category="console", output=f"{run}\n"))

    # ---- BackwardObserver

    def capture_begins(self, compiler: Compiler, given: Given) -> None:
        capture = self._captures.of(compiler)
        live = LiveCapture(compiler, capture, given, self._captures.before(capture))
        thread = self._threads.setdefault(threading.get_ident(), _Thread(live))
        thread.live = live
        if not self.enabled:
            return
        if self._suspension.runtime_steps_in():
            self._suspension.cancel_runtime_step()
            thread.mode = BackwardStepMode.INTO
        thread.token = self._suspension.compile_begins()

    def node_called(self, compiler: Compiler, index: int, name: str, function: Any) -> None:
        thread = self._threads.get(threading.get_ident())
        if thread is None or not self.enabled:
            return
        if thread.mode is BackwardStepMode.RUN and self.table.is_empty and not self._suspension.pause_requested():
            return
        class_name = autograd_nodes.function_name(function)
        if class_name is not None:
            thread.live.functions[index] = class_name
        reached = self.table.at_node(index, name, class_name)
        if self.table.lines:
            for frame in thread.live.made_at(index)[:1]:
                reached += self.table.at_line(frame)
        self._stop_if_wanted(thread, StopPoint("node", index), reached)

    def hook_called(self, compiler: Compiler, kind: str, hook: int) -> None:
        thread = self._threads.get(threading.get_ident())
        if thread is None or not self.enabled or (thread.mode is BackwardStepMode.RUN and not self.table.names):
            return
        lifted = self._captures.of(compiler).hooks[-1]
        place = thread.live.place_of_hook(lifted)
        reached = self.table.at_hook(kind, place.name if place is not None else None)
        self._stop_if_wanted(thread, StopPoint("hook", lifted.node_call, hook=lifted), reached)

    def pass_begins(self, compiler: Compiler, name: str) -> None:
        thread = self._threads.get(threading.get_ident())
        if thread is None or not self.enabled:
            return
        wanted = thread.mode is not BackwardStepMode.RUN or bool(self.table.names)
        if not thread.live.passes:
            thread.live.passes_begin(wanted)
        if wanted:
            thread.before = captured_graph.node_names(thread.live.graph)

    def pass_ends(self, compiler: Compiler, name: str, result: Any) -> None:
        thread = self._threads.get(threading.get_ident())
        if thread is None or not thread.before:
            return
        before, thread.before = thread.before, ()
        after = captured_graph.node_names(thread.live.graph)
        thread.live.passes.append(PassRun(name, before, after, result))
        self._stop_if_wanted(thread, StopPoint("pass", pass_name=name), self.table.at_pass(name))

    def graph_made(self, compiler: Compiler, module: Any) -> None:
        thread = self._threads.get(threading.get_ident())
        if thread is not None and self.enabled:
            thread.live.graph_is_done()
            locations.captured.add(module, thread.live.capture)

    def capture_ends(self, compiler: Compiler, failed: bool) -> None:
        thread = self._threads.get(threading.get_ident())
        if thread is None:
            return
        token, thread.token = thread.token, None
        self._suspension.compile_ends(token)
        if failed:
            self._finish(thread)

    def run_begins(self, compiler: Compiler, given: RunGiven) -> None:
        thread = self._threads.get(threading.get_ident())
        if thread is None:
            return
        thread.live.hooks_given = given.hooks
        token = self._suspension.compile_begins() if self.enabled else None
        try:
            if self.enabled:
                self._stop_if_wanted(thread, StopPoint("run", pass_name=RUN), self.table.at_pass(RUN))
        finally:
            self._suspension.compile_ends(token)
            self._finish(thread)

    # ---- stops

    def _finish(self, thread: _Thread) -> None:
        """Release the capture, which is over, and let a step end in the program."""
        del self._threads[threading.get_ident()]
        if self.enabled and not self.table.is_empty:
            self._captured(thread.live, self.table)
        if self.enabled and thread.mode is not BackwardStepMode.RUN:
            self._suspension.finish_step_at_runtime(thread.live.caller)
            if thread.mode is BackwardStepMode.INTO:
                self._step_into_compile()

    def _stop_if_wanted(self, thread: _Thread, point: StopPoint, reached: Sequence[AgentBreakpoint]) -> None:
        hits = self._hits.that_stop(reached, BackwardContext(thread.live, point))
        if hits:
            by_name = all(isinstance(each.asked, FunctionBreakpoint) for each in hits)
            self._stop(thread, point, "function breakpoint" if by_name else "breakpoint", [each.id for each in hits])
        elif self._suspension.pause_requested():
            self._stop(thread, point, "pause", [])
        elif _ends_step(thread.mode, point):
            self._stop(thread, point, "step", [])

    def _stop(self, thread: _Thread, point: StopPoint, reason: StopReason, ids: list[int]) -> None:
        live = thread.live
        with without_modes():
            make_inspection = functools.partial(BackwardInspection, live, point)
            command = self._wait(make_inspection, live.caller, Stop(reason, ids), "Paused in a backward")
        thread.mode = {
            "continue": BackwardStepMode.RUN,
            "stepIn": BackwardStepMode.INTO,
            "next": BackwardStepMode.OVER,
            "stepOut": BackwardStepMode.OUT if point.node_call is not None else BackwardStepMode.LEAVE,
        }[command]


def _ends_step(mode: BackwardStepMode, point: StopPoint) -> bool:
    if mode is BackwardStepMode.OUT:
        return point.node_call is None
    is_detail = point.kind == "hook"  # of its node: `next` skips it
    return mode is BackwardStepMode.INTO or (mode is BackwardStepMode.OVER and not is_detail)
