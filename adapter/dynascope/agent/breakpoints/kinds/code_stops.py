"""Stops before instructions of generated code, with the steps and the inspection there. On the program's threads.

Python tells of each instruction of the code objects that have a breakpoint and, during a step, of all generated code.
"""

from __future__ import annotations

import functools
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from dynascope.agent.breakpoints.conditions import fill
from dynascope.agent.breakpoints.hits import AgentBreakpoint, Hits, ids_of
from dynascope.agent.documents.documents import Documents, Generated
from dynascope.agent.documents.generated_code import side_by_side
from dynascope.agent.events.hook_failures import HookFailures, contained
from dynascope.agent.inspection.stack_frames import evaluate_running, running_headings
from dynascope.agent.inspection.stop_inspection import StopInspection
from dynascope.agent.inspection.values import EvaluationError, concrete
from dynascope.agent.inspection.values.rows import Heading, Row, ViewOptions, few
from dynascope.agent.internals.codegen.generated import NULL, running_instructions, value_stack
from dynascope.agent.internals.frames.resume import made_from
from dynascope.agent.internals.frames.translators import locals_of
from dynascope.agent.isolation.isolation import undisturbed
from dynascope.agent.isolation.unseen import unseen
from dynascope.agent.program.instruction_events import InstructionEvents
from dynascope.agent.program.user_code import is_our_code, real_path
from dynascope.agent.suspension.interface import Suspension
from dynascope.agent.suspension.stops import CompileStops, Stop
from dynascope.wire.dap import EvaluateResult, StackFrame
from dynascope.wire.from_agent import ConsoleOutput
from dynascope.wire.messages import Message, ResumeCommand
from dynascope.wire.to_agent import Evaluate

_NO_STACK = "This torch cannot read the value stack of a running frame: torch 2.12 is the first that can."
_NOT_SET = "Variables of generated code cannot be set."

_FAILED = "dynascope failed in generated code; the program continues.\n"
_DESCRIPTION = "Paused in generated code"

Placed = Mapping[int, Sequence[tuple[int, AgentBreakpoint]]]
"""By the id of generated code: the offset of each breakpoint's instruction, and the breakpoint."""


class GeneratedCodeInspection(StopInspection):
    """Inspect a stop before an instruction of generated code."""

    no_data_breakpoints = "Generated code runs: its values can be watched when Dynamo traces your function."

    def __init__(
        self,
        frame: types.FrameType,
        document: Generated,
        ids: Iterator[int],
        runtime_frames: Sequence[types.FrameType] = (),
    ) -> None:
        super().__init__(ids)
        self._frame = frame
        self._document = document
        listing = side_by_side(document.code, document.generated, document.parts)
        self._line = listing.offsets.index(frame.f_lasti) + 1
        self._lines = listing.lines
        name = (document.source.name or "").removesuffix(" bytecode")
        self.frames.append(
            StackFrame(id=self.add_frame(self), name=name, line=self._line, column=1, source=document.source)
        )
        self.add_runtime_frames(runtime_frames)

    def isolated(self) -> AbstractContextManager[Any]:
        return undisturbed()

    def headings(self, frame_id: int) -> list[Heading]:
        self.frame(frame_id)
        local_names, *others = running_headings(self._frame)
        stack = Heading("Value Stack", few(self._stack), hint="registers")
        return [local_names, stack, *others]

    def _stack(self, options: ViewOptions) -> list[Row]:
        at = next(row for row in running_instructions(self._document.generated) if row.offset == self._frame.f_lasti)
        values = None if at.depth is None or at.effect is None else value_stack(self._frame, at.depth - at.effect)
        if values is None:
            return [Row("unknown", _NO_STACK)]
        rows = [
            Row(f"[{i}]", "NULL") if value is NULL else concrete.row(options, f"[{i}]", value, None)
            for i, value in enumerate(values)
        ]
        return rows[::-1]

    @property
    def document_name(self) -> str:
        return f"{self._document.source.name} at this stop"

    def document_text(self) -> str:
        marked = [f"{'>' if i == self._line else ' '} {line}" for i, line in enumerate(self._lines, 1)]
        return "\n".join([*marked, ""])

    def evaluate(self, request: Evaluate) -> EvaluateResult:
        if request.assigned is not None:
            raise EvaluationError(_NOT_SET)
        frame = self.runtime_frame(request.frame_id) or self._frame
        return self.result(evaluate_running(frame, request.expression, request.context, request.hex))


class RunningContext:
    """A frame of generated code, as `breakpoints.hits.HitContext`."""

    where = "in generated code"

    def __init__(self, frame: types.FrameType) -> None:
        self._frame = frame

    @property
    def location(self) -> tuple[str | None, int | None]:
        return self._frame.f_code.co_filename, self._frame.f_lineno

    def holds(self, expression: str) -> bool:
        return bool(self._value(expression))

    def log_text(self, template: str) -> str:
        return fill(template, lambda each: evaluate_running(self._frame, each, "watch", False).value, self._value)

    def _value(self, expression: str) -> Any:
        try:
            with undisturbed():
                return eval(expression.strip(), self._frame.f_globals, locals_of(self._frame))
        except BaseException as error:  # an exception of an expression must not reach the program
            raise EvaluationError(f"{type(error).__name__}: {error}") from error


class _Step(NamedTuple):
    command: ResumeCommand
    depth: int
    """The number of frames where the step began: no frame is kept alive."""

    def ends_at(self, depth: int) -> bool:
        return {"stepIn": True, "next": depth <= self.depth, "stepOut": depth < self.depth}.get(self.command, False)


class CodeStops:
    """Stop threads in generated code; `use` may be called on any thread."""

    def __init__(
        self, documents: Documents, stops: CompileStops, suspension: Suspension, send: Callable[[Message], None]
    ) -> None:
        self._documents = documents
        self._stops = stops
        self._suspension = suspension
        self._hits = Hits(send)
        self.failures = HookFailures(lambda trace: send(ConsoleOutput(category="important", output=_FAILED + trace)))
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
        elif step is not None and step.ends_at(_depth(frame)):
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
