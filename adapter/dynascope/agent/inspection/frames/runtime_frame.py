"""Frames of the running program below a compile, in sessions without debugpy: plain values, plain evaluation."""

from __future__ import annotations

import types
from dataclasses import dataclass
from typing import Any, TypeGuard

import torch

from dynascope.agent.inspection.scopes.heading import Heading, rows_of_names
from dynascope.agent.inspection.values import concrete
from dynascope.agent.inspection.values.errors import EvaluationError
from dynascope.agent.inspection.values.names import Named
from dynascope.agent.inspection.values.rows import Children, Row, ViewOptions
from dynascope.agent.internals.isolation.containment import ActRefused
from dynascope.agent.internals.isolation.isolation import undisturbed


@dataclass(frozen=True)
class EnteredFrame:
    """A function of the program that is about to run; everything as in a frame."""

    f_code: types.CodeType
    f_lineno: int
    f_locals: dict[str, Any]
    f_globals: dict[str, Any]


RunningFrame = types.FrameType | EnteredFrame


def is_running(frame: Any) -> TypeGuard[RunningFrame]:
    """Whether a frame is of the program itself, and not one that Dynamo traces."""
    return type(frame) in (types.FrameType, EnteredFrame)


def running_headings(frame: RunningFrame) -> list[Heading]:
    """Locals and Globals."""
    local_names = {name: Named(real=value) for name, value in dict(frame.f_locals).items()}
    found = [Heading("Locals", Children(named=rows_of_names(local_names)), hint="locals")]
    if frame.f_globals is not frame.f_locals:
        global_names = {name: Named(real=value) for name, value in frame.f_globals.items() if name != "__builtins__"}
        found.append(Heading("Globals", Children(named=rows_of_names(global_names)), expensive=True, hint="globals"))
    return found


def evaluate_running(frame: RunningFrame, expression: str, context: str, hexadecimal: bool) -> Row:
    """`eval` in the frame, on the program's real objects, as any debugger does; statements in the debug console."""
    options = ViewOptions(None, hexadecimal)
    source = expression.strip()
    try:
        with undisturbed():
            try:
                value = eval(source, frame.f_globals, frame.f_locals)
            except SyntaxError:
                if context != "repl":
                    raise
                exec(compile(source, "<debug console>", "exec"), frame.f_globals, frame.f_locals)
                return Row("", "")
    except ActRefused as error:
        raise EvaluationError(str(error)) from error
    except BaseException as error:  # the program must not see what an expression raises
        raise EvaluationError(f"{type(error).__name__}: {error}") from error
    with torch._C.DisableTorchFunction():
        return concrete.row(options, "", value, source)
