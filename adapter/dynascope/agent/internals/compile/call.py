"""Read with which arguments a function was called that Dynamo compiles."""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from typing import Any

import torch

from dynascope.agent.internals.compile.failed_guard import value_text


def arguments_of(code: types.CodeType, values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the parameters of a frame that is called, each with its argument as text.

    `values` are the `locals` of `convert_frame._compile` (2.0). No code of the program runs. What Dynamo passes to the
    rest of a function beside its variables (`___stack0`) is left out.
    """
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    names = [name for name in code.co_varnames[:count] if name in values and not name.startswith("___")]
    with torch._C.DisableTorchFunction():
        return [(name, _text(values[name])) for name in names]


def _text(value: object) -> str:
    try:
        return value_text(value)
    except Exception:  # a subclass of Tensor may refuse to tell even its shape
        return type(value).__qualname__
