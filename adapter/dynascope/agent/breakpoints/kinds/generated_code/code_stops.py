"""Stops before instructions of generated code, with the steps from there. Runs on the program's threads.

Python tells of each instruction of the code objects that have a breakpoint and, during a step, of all generated code.
"""

from __future__ import annotations

import functools
import sys
import threading
import types
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from dynascope.agent.breakpoints.breakpoint import Breakpoint
from dynascope.agent.breakpoints.hits import Hits, ids_of
from dynascope.agent.breakpoints.kinds.generated_code.code_inspection import (
    GeneratedCodeInspection,
    RunningContext,
)
from dynascope.agent.documents.documents import Documents, Generated
from dynascope.agent.events.hook_failures import HookFailures, contained
from dynascope.agent.internals.frames.resume import made_from
from dynascope.agent.isolation.unseen import unseen
from dynascope.agent.program.instruction_events import InstructionEvents
from dynascope.agent.program.user_code import is_our_code, real_path
from dynascope.agent.suspension.interface import Suspension
from dynascope.agent.suspension.stop import Stop
from dynascope.agent.suspension.stops import CompileStops
from dynascope.wire.from_agent import Output
from dynascope.wire.messages import Message, ResumeCommand

_FAILED = "dynascope failed in generated code; the program continues.\n"
_DESCRIPTION = "Paused in generated code"

Placed = Mapping[int, Sequence[tuple[int, Breakpoint]]]
"""By the id of generated code: the offset of each breakpoint's instruction, and the breakpoint."""


class _Step(NamedTuple):
    command: ResumeCommand
    depth: int
    """The number of frames where the step began: no frame is kept alive."""


class CodeStops:
    """Stop threads in generated code; `use` may be called on any thread."""

    def __init__(
        self, documents: Documents, stops: CompileStops, suspension: Suspension, send: Callable[[Message], None]
    ) -> None:
        self._documents = documents
        self._stops = stops
        self._suspension = suspension
        self._hits = Hits(send)
        self.failures = HookFailures(lambda trace: send(Output(category="important", output=_FAILED + trace)))
        self._placed: Placed = {}
        self._steps: dict[int, _Step] = {}
        """By the ident of the thread."""
        self._events = InstructionEvents(functools.partial(unseen, self._instruction))

    def use(self, placed: Placed) -> None:
        """Make these the breakpoints."""
        self._placed = placed
        if not placed:
            self._steps.clear()
        self._observe()

    def code_added(self) -> None:
        """Observe new generated code during a step, which may enter it."""
        if self._steps:
            self._observe()

    def step_ends(self) -> None:
        """Forget the step of the current thread."""
        if self._steps.pop(threading.get_ident(), None) is not None:
            self._observe()

    def _observe(self) -> None:
        known = self._documents.generated() if self._steps or self._placed else []
        self._events.observe(each.generated for each in known if self._steps or id(each.generated) in self._placed)

    @contained
    def _instruction(self, code: types.CodeType, offset: int) -> None:
        step = self._steps.get(threading.get_ident())
        reached = [breakpoint for at, breakpoint in self._placed.get(id(code), ()) if at == offset]
        if step is None and not reached:
            return
        frame = _frame_of(code)
        document = next((each for each in self._documents.generated() if each.generated is code), None)
        if frame is None or document is None:
            return
        hits = self._hits.that_stop(reached, RunningContext(frame))
        if hits:
            self._stop(frame, document, Stop("breakpoint", ids_of(hits)))
        elif step is not None and _ends(step, _depth(frame)):
            self._stop(frame, document, Stop("step"))

    def _stop(self, frame: types.FrameType, document: Generated, stop: Stop) -> None:
        self.step_ends()
        token = self._suspension.compile_begins()
        try:
            make_inspection = functools.partial(GeneratedCodeInspection, frame, document)
            command = self._stops.wait(make_inspection, frame.f_back, stop, _DESCRIPTION)
            self._stops.step_prepared(-1)
        finally:
            self._suspension.compile_ends(token)
        if command != "continue":
            self._steps[threading.get_ident()] = _Step(command, _depth(frame))
            self._suspension.finish_step_at_runtime(self._caller(frame))
            self._observe()

    def _caller(self, frame: types.FrameType) -> types.FrameType | None:
        """Return the frame in which a step ends that leaves generated code."""
        caller = frame.f_back
        while caller is not None:
            path = real_path(caller.f_code.co_filename)
            if made_from(caller.f_code) is None and not is_our_code(path) and self._suspension.is_user_code(path):
                return caller
            caller = caller.f_back
        return None


def _frame_of(code: types.CodeType) -> types.FrameType | None:
    frame: types.FrameType | None = sys._getframe()
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame


def _depth(frame: types.FrameType) -> int:
    depth, below = 0, frame.f_back
    while below is not None:
        depth, below = depth + 1, below.f_back
    return depth


def _ends(step: _Step, depth: int) -> bool:
    """Whether a step ends in a frame this deep."""
    return {"stepIn": True, "next": depth <= step.depth, "stepOut": depth < step.depth}.get(step.command, False)
