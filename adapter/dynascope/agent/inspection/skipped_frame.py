"""A frame that Dynamo was called for and does not trace: its arguments, before it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from dynascope.agent.inspection.frames.runtime_frame import EnteredFrame, RunningFrame
from dynascope.agent.inspection.inspection import Inspection
from dynascope.agent.inspection.values.errors import EvaluationError
from dynascope.agent.internals.frames.resume import original_code
from dynascope.agent.internals.isolation.isolation import undisturbed


def entered(frame: Any) -> EnteredFrame:
    """Of Dynamo's frame (`DynamoFrameType`, 2.0); a resume function is shown as the function it continues."""
    code = original_code(frame.f_code)
    own = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    known = {name: value for name, value in frame.f_locals.items() if name in own}
    return EnteredFrame(code, code.co_firstlineno, known, frame.f_globals)


class EntryInspection(Inspection):
    """Such a frame, above those of the running program."""

    def __init__(self, frame: Any, ids: Iterator[int], runtime_frames: Sequence[RunningFrame] = ()) -> None:
        super().__init__((), ids, [entered(frame), *runtime_frames])
        self.symbolic_frames = 1
        self.frames[0].name += " [not compiled]"

    def document_text(self) -> str:
        return f"# {self.document_name}\n# Dynamo traces nothing here.\n"


def evaluate_at_entry(frame: Any, expression: str) -> bool:
    """Whether an expression is true of the arguments. Raises EvaluationError."""
    known = entered(frame)
    try:
        with undisturbed(), torch._C.DisableTorchFunction():
            return bool(eval(expression, known.f_globals, known.f_locals))
    except Exception as error:
        raise EvaluationError(f"{type(error).__name__}: {error}") from error
