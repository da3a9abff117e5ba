"""Inspect the running program's frames below a compile, in sessions without debugpy."""

from __future__ import annotations

import inspect
import types
from dataclasses import dataclass
from typing import Any, TypeGuard

import torch

from dynascope.agent.inspection.scopes.heading import Heading, rows_of_names
from dynascope.agent.inspection.values import concrete
from dynascope.agent.inspection.values.errors import EvaluationError
from dynascope.agent.inspection.values.names import Named
from dynascope.agent.inspection.values.rows import Children, Row, ViewOptions
from dynascope.agent.internals.frames.running_frames import locals_of
from dynascope.agent.isolation.containment import ActRefused
from dynascope.agent.isolation.isolation import undisturbed


@dataclass(frozen=True)
class EnteredFrame:
    """A function of the program that is about to run, with the attributes of a frame."""

    f_code: types.CodeType
    f_lineno: int
    f_locals: dict[str, Any]
    f_globals: dict[str, Any]


RunningFrame = types.FrameType | EnteredFrame


def is_running(frame: Any) -> TypeGuard[RunningFrame]:
    """Whether a frame belongs to the running program and is not one that Dynamo traces."""
    return type(frame) in (types.FrameType, EnteredFrame)


def values_of(frame: RunningFrame) -> dict[str, Any]:
    """Return a copy of the frame's local variables."""
    return locals_of(frame) if isinstance(frame, types.FrameType) else dict(frame.f_locals)


def running_headings(frame: RunningFrame) -> list[Heading]:
    """Return the headings Locals and, unless they are the same, Globals."""
    local_names = {name: Named(real=value) for name, value in values_of(frame).items()}
    headings = [Heading("Locals", Children(named=rows_of_names(local_names)), hint="locals")]
    if frame.f_code.co_flags & inspect.CO_OPTIMIZED or frame.f_globals is not frame.f_locals:
        global_names = {name: Named(real=value) for name, value in frame.f_globals.items() if name != "__builtins__"}
        headings.append(Heading("Globals", Children(named=rows_of_names(global_names)), expensive=True, hint="globals"))
    return headings


def evaluate_running(frame: RunningFrame, expression: str, context: str, hexadecimal: bool) -> Row:
    """Evaluate on the frame's real objects; statements only in the debug console."""
    options = ViewOptions(None, hexadecimal)
    source = expression.strip()
    try:
        with undisturbed():
            try:
                value = eval(source, frame.f_globals, values_of(frame))
            except SyntaxError:
                if context != "repl":
                    raise
                exec(compile(source, "<debug console>", "exec"), frame.f_globals, frame.f_locals)
                values_of(frame)
                return Row("", "")
    except ActRefused as error:
        raise EvaluationError(str(error)) from error
    except BaseException as error:  # an exception of an expression must not reach the program
        raise EvaluationError(f"{type(error).__name__}: {error}") from error
    with torch._C.DisableTorchFunction():
        return concrete.row(options, "", value, source)
