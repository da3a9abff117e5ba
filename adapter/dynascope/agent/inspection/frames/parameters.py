"""List a function's parameters for the call stack: `forward(self: MLP, x: f32[s0, 16])`."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Iterator

from dynascope.agent.inspection.frames.runtime_frame import RunningFrame, values_of
from dynascope.agent.inspection.values.names import Named, Names
from dynascope.agent.inspection.values.rows import Row, ViewOptions
from dynascope.agent.inspection.values.symbolic_text import contents
from dynascope.agent.internals.frames.resume import original_code
from dynascope.agent.internals.frames.translators import code_of
from dynascope.agent.internals.symbolic_shapes.fake_tensors import is_symbolic, is_tensor, symbolic_text
from dynascope.agent.internals.variables.contents import Cell, Number, Tensor, Unrealised, Unset
from dynascope.agent.internals.variables.variables import without_lazy
from dynascope.wire.beyond_dap import Parameter

_UNNAMED = re.compile(r"\.\d+")
_LONGEST = 60
"""The maximum number of characters of a value; the frame's Locals show it whole."""


def symbolic_parameters(names: Names, hexadecimal: bool) -> list[Parameter]:
    """Return a traced function's parameters, for a resume function its original's, with values."""
    options = names.options(hexadecimal)
    values = names.closure | names.locals
    parameters = _written(original_code(code_of(names.translator)))
    return [_parameter(options, stars + name, values.get(name)) for stars, name in parameters]


def running_parameters(frame: RunningFrame, hexadecimal: bool) -> list[Parameter]:
    """Return the parameters of a running function."""
    options = ViewOptions(None, hexadecimal)
    values = {name: Named(real=value) for name, value in values_of(frame).items()}
    return [_parameter(options, stars + name, values.get(name)) for stars, name in _written(frame.f_code)]


def _written(code: types.CodeType) -> Iterator[tuple[str, str]]:
    """Yield each parameter's stars and name in the order of the code; `*args`, `**kwargs` last."""
    count = code.co_argcount + code.co_kwonlyargcount
    stars = [""] * count
    stars += ["*"] * bool(code.co_flags & inspect.CO_VARARGS) + ["**"] * bool(code.co_flags & inspect.CO_VARKEYWORDS)
    for star, name in zip(stars, code.co_varnames, strict=False):
        if not _UNNAMED.fullmatch(name):
            yield star, name


def _parameter(options: ViewOptions, name: str, named: Named | None) -> Parameter:
    if named is None:
        return Parameter(name=name)
    row = named.row(options, name, None)
    if named.variable is None:
        return _of_real(name, named.real, row)
    realized, _ = without_lazy(named.variable)
    content = contents(options, named.variable if realized is None else realized)
    match content:
        case Cell():
            return _parameter(options, name, None if content.contents is None else Named(content.contents))
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
