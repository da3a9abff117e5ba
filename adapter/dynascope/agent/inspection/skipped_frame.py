"""Show a frame that Dynamo does not trace: its arguments, before it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from dynascope.agent.inspection.inspection import Inspection
from dynascope.agent.inspection.stack_frames import EnteredFrame, RunningFrame
from dynascope.agent.inspection.values.errors import EvaluationError
from dynascope.agent.internals.frames.resume import original_code
from dynascope.agent.isolation.isolation import undisturbed


def entered(frame: Any) -> EnteredFrame:
    """Convert Dynamo's frame (`DynamoFrameType`, 2.0); show a resume function as its original."""
    code = original_code(frame.f_code)
    own = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    arguments = {name: value for name, value in frame.f_locals.items() if name in own}
    return EnteredFrame(code, code.co_firstlineno, arguments, frame.f_globals)


class SkippedFrameInspection(Inspection):
    """The stop at a frame that Dynamo does not trace, above those of the running program."""

    def __init__(self, frame: Any, ids: Iterator[int], runtime_frames: Sequence[RunningFrame] = ()) -> None:
        super().__init__((), ids, [entered(frame), *runtime_frames])
        self.symbolic_frames = 1
        self.skipped_frame = frame
        self.frames[0].name += " [not compiled]"

    def document_text(self) -> str:
        return f"# {self.document_name}\n# Dynamo does not trace this frame.\n"


class SkippedFrameContext:
    """Evaluate conditions on the arguments of such a frame, as `breakpoints.hits.HitContext`."""

    where = "here"

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    @property
    def location(self) -> tuple[str | None, int | None]:
        code = original_code(self._frame.f_code)
        return code.co_filename, code.co_firstlineno

    def holds(self, expression: str) -> bool:
        frame = entered(self._frame)
        try:
            with undisturbed(), torch._C.DisableTorchFunction():
                return bool(eval(expression, frame.f_globals, frame.f_locals))
        except Exception as error:
            raise EvaluationError(f"{type(error).__name__}: {error}") from error

    def log_text(self, template: str) -> str:
        raise EvaluationError("A log message cannot be evaluated for a function that Dynamo skips.")
