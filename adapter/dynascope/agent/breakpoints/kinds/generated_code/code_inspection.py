"""Show a frame of generated code that is about to run an instruction: its document, real locals and value stack."""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from dynascope.agent.breakpoints.conditions import fill
from dynascope.agent.documents.documents import Generated
from dynascope.agent.documents.generated_code import beside
from dynascope.agent.inspection.frames.runtime_frame import evaluate_running, running_headings
from dynascope.agent.inspection.scopes.heading import Heading
from dynascope.agent.inspection.stop_inspection import StopInspection
from dynascope.agent.inspection.values import concrete
from dynascope.agent.inspection.values.errors import EvaluationError
from dynascope.agent.inspection.values.rows import Children, Row, ViewOptions, computed
from dynascope.agent.internals.codegen.bytecode import NULL, running_instructions, value_stack
from dynascope.agent.internals.frames.running_frames import locals_of
from dynascope.agent.isolation.isolation import undisturbed
from dynascope.wire.dap import EvaluateResult, StackFrame
from dynascope.wire.to_agent import Evaluate

_NO_STACK = "This torch cannot read the value stack of a running frame: torch 2.12 is the first that can."
_NOT_SET = "Variables of generated code cannot be set."


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
        listing = beside(document.code, document.generated, document.parts)
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
        stack = Heading("Value Stack", Children(named=computed(self._stack)), hint="registers")
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
        return fill(template, lambda each: self._row(each).value, self._value)

    def _row(self, expression: str) -> Row:
        return evaluate_running(self._frame, expression, "watch", False)

    def _value(self, expression: str) -> Any:
        try:
            with undisturbed():
                return eval(expression.strip(), self._frame.f_globals, locals_of(self._frame))
        except BaseException as error:  # an exception of an expression must not reach the program
            raise EvaluationError(f"{type(error).__name__}: {error}") from error
