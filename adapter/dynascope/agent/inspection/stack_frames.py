"""Build the DAP frames of the call stack with their parameters, and inspect those of the running program.

`forward(self: MLP, x: f32[s0, 16])` is a frame with its parameters; the running program's, below a compile, are
inspected in sessions without debugpy.
"""

from __future__ import annotations

import inspect
import os.path
import re
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeGuard

import torch

from dynascope.agent.inspection.values import EvaluationError, concrete
from dynascope.agent.inspection.values.locations import captured
from dynascope.agent.inspection.values.names import NamedValue, Names, rows_of_names
from dynascope.agent.inspection.values.rows import Children, Heading, Row, ViewOptions
from dynascope.agent.inspection.values.symbolic_text import contents
from dynascope.agent.internals.compile.compile_context import trace_id
from dynascope.agent.internals.frames.resume import compile_name, original_code
from dynascope.agent.internals.frames.translators import code_of, line_of, locals_of
from dynascope.agent.internals.symbolic_shapes.fake_tensors import is_symbolic, is_tensor, symbolic_text
from dynascope.agent.internals.variables.held import Cell, Number, Tensor, Unrealised, Unset
from dynascope.agent.internals.variables.variables import without_lazy
from dynascope.agent.isolation.containment import ActRefused
from dynascope.agent.isolation.isolation import undisturbed
from dynascope.agent.program.source_lines import memory_sources
from dynascope.facts.file_names import given_name, short_name
from dynascope.wire.beyond_dap import Parameter
from dynascope.wire.dap import Source, StackFrame

_UNNAMED = re.compile(r"\.\d+")
_LONGEST = 60
"""The maximum number of characters of a value; the frame's Locals show it whole."""


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
    local_names = {name: NamedValue(real=value) for name, value in values_of(frame).items()}
    headings = [Heading("Locals", Children(named=rows_of_names(local_names)), hint="locals")]
    if frame.f_code.co_flags & inspect.CO_OPTIMIZED or frame.f_globals is not frame.f_locals:
        global_names = {
            name: NamedValue(real=value) for name, value in frame.f_globals.items() if name != "__builtins__"
        }
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


def symbolic_frame(frame_id: int, translator: Any) -> StackFrame:
    """Return the DAP frame of a function that Dynamo traces."""
    code, line = code_of(translator), line_of(translator)
    origin = captured.origin(code.co_filename, line)
    if origin is None:
        name = compile_name(code, trace_id())
        return StackFrame(id=frame_id, name=name, line=line, column=1, source=source_of_code(code))
    # a line of a captured backward, whose file cannot be opened: name the node, and show the line that created it
    name = f"{origin.name} [{trace_id()} NodeCall {origin.index}]"
    if origin.forward is None:
        return StackFrame(id=frame_id, name=name, line=line, column=1, source=source_of_code(code))
    source = source_of_path(origin.forward.path)
    return StackFrame(id=frame_id, name=name, line=origin.forward.line, column=1, source=source)


def runtime_frame(frame_id: int, frame: RunningFrame) -> StackFrame:
    """Return the DAP frame of a running function."""
    line = frame.f_lineno or frame.f_code.co_firstlineno
    source = source_of_code(frame.f_code)
    return StackFrame(id=frame_id, name=frame.f_code.co_name, line=line, column=1, source=source, can_restart=False)


def source_of_code(code: types.CodeType) -> Source:
    """Return the file of a code object."""
    return source_of_path(code.co_filename)


def source_of_path(path: str) -> Source:
    """Return the file of a code's path; only a name where there is none (`<string>`)."""
    reference = memory_sources.reference(path)
    if reference is not None:
        return Source(name=given_name(path) or path, path=path, source_reference=reference)
    if path.startswith("<"):
        return Source(name=path, presentation_hint="deemphasize")
    path = os.path.abspath(path)
    return Source(name=short_name(path), path=path)


def symbolic_parameters(names: Names, hexadecimal: bool) -> list[Parameter]:
    """Return a traced function's parameters, for a resume function its original's, with values."""
    options = names.options(hexadecimal)
    values = names.closure | names.locals
    parameters = _written(original_code(code_of(names.translator)))
    return [_parameter(options, stars + name, values.get(name)) for stars, name in parameters]


def running_parameters(frame: RunningFrame, hexadecimal: bool) -> list[Parameter]:
    """Return the parameters of a running function."""
    options = ViewOptions(None, hexadecimal)
    values = {name: NamedValue(real=value) for name, value in values_of(frame).items()}
    return [_parameter(options, stars + name, values.get(name)) for stars, name in _written(frame.f_code)]


def _written(code: types.CodeType) -> Iterator[tuple[str, str]]:
    """Yield each parameter's stars and name in the order of the code; `*args`, `**kwargs` last."""
    count = code.co_argcount + code.co_kwonlyargcount
    stars = [""] * count
    stars += ["*"] * bool(code.co_flags & inspect.CO_VARARGS) + ["**"] * bool(code.co_flags & inspect.CO_VARKEYWORDS)
    for star, name in zip(stars, code.co_varnames, strict=False):
        if not _UNNAMED.fullmatch(name):
            yield star, name


def _parameter(options: ViewOptions, name: str, named: NamedValue | None) -> Parameter:
    if named is None:
        return Parameter(name=name)
    row = named.row(options, name, None)
    if named.variable is None:
        return _of_real(name, named.real, row)
    realized, _ = without_lazy(named.variable)
    content = contents(options, named.variable if realized is None else realized)
    match content:
        case Cell():
            return _parameter(options, name, None if content.contents is None else NamedValue(content.contents))
        case Unset():
            return Parameter(name=name)
        case Tensor():
            return Parameter(name=name, type=row.value)
        case Number() if is_symbolic(content.symbolic):
            return Parameter(name=name, type=type(content.symbolic).__name__, value=symbolic_text(content.symbolic))
        case Unrealised():
            return _of_real(name, content.value, row)
    return Parameter(name=name, type=_type(row), value=_value(row))


def _of_real(name: str, value: object, row: Row) -> Parameter:
    if is_tensor(value):
        return Parameter(name=name, type=row.value)
    return Parameter(name=name, type=_type(row), value=_value(row))


def _type(row: Row) -> str | None:
    """Return the class without its module and the Variables view's addition in parentheses."""
    return row.type and row.type.partition(" (")[0].rpartition(".")[2]


def _value(row: Row) -> str:
    return row.value if len(row.value) <= _LONGEST else f"{row.value[:_LONGEST]}…"
