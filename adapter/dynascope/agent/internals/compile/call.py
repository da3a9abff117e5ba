"""Read with which arguments a function was called that Dynamo compiles."""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Mapping
from typing import Any

import torch

from dynascope.agent.internals.compile.failed_guard import guarded_object, value_text
from dynascope.facts.recompiles.causes import Keyed
from dynascope.facts.recompiles.guarded_value import GuardedValue


def arguments_of(code: types.CodeType, values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the parameters of a frame that is called, each with its argument as text.

    `values` are the `locals` of `convert_frame._compile` (2.0). No code of the program runs. What Dynamo passes to the
    rest of a function beside its variables (`___stack0`) is left out, and what `**kwargs` takes is told one by one.
    """
    count, keywords = _named(code) + bool(code.co_flags & inspect.CO_VARARGS), values.get(keywords_of(code))
    names = [name for name in code.co_varnames[:count] if name in values and not name.startswith("___")]
    with torch._C.DisableTorchFunction():
        texts = [(name, _text(values[name])) for name in names]
        return texts + [(name, _text(value)) for name, value in (keywords or {}).items()]


def keywords_of(code: types.CodeType) -> str:
    """Return the parameter that takes other keywords, `kwargs`, or ""."""
    position = _named(code) + bool(code.co_flags & inspect.CO_VARARGS)
    return code.co_varnames[position] if code.co_flags & inspect.CO_VARKEYWORDS else ""


def keyed_met(subject: GuardedValue, frame: Any) -> Keyed | None:
    """Return what a guarded length or key is of; `frame`: Dynamo's view of the call's (2.0)."""
    if subject.kind not in ("length", "keys"):
        return None
    if subject.expression == keywords_of(frame.f_code):
        return "keywords"
    return "dict" if issubclass(type(guarded_object(subject, frame)), dict) else None


def wrapped_name(code: types.CodeType, values: Mapping[str, Any]) -> str | None:
    """Return the name of what torch compiles in a function of its own; None for any other code.

    `external_utils.wrap_inline` (2.1) wraps modules and functions of libraries, which Dynamo would skip,
    `functional_export.ModuleToTrace` (2.9) what a strict export captures, and `aot_compile` (2.9) begins in
    `torch.nn.Module._wrapped_call_impl` (2.1).
    """
    wrappers: Any = sys.modules["torch._dynamo.external_utils"]
    exports: Any = sys.modules.get("torch._dynamo.functional_export")
    if code.co_filename == wrappers.__file__ and code.co_name == "inner" and "fn" in values:
        return _name(values["fn"])
    if exports is not None and code is exports.ModuleToTrace.forward.__code__:
        holder = vars(values["self"])
        return f"export of {_name(holder.get('_modules', {}).get('_export_root') or holder.get('_export_root'))}"
    if code is torch.nn.Module._wrapped_call_impl.__code__:
        return _name(values["self"])
    return None


def _name(wrapped: Any) -> str:
    if type(wrapped) in (types.FunctionType, types.MethodType):
        return str(wrapped.__qualname__)
    return f"{type(wrapped).__qualname__}{'.forward' if issubclass(type(wrapped), torch.nn.Module) else ''}"


def _named(code: types.CodeType) -> int:
    return code.co_argcount + code.co_kwonlyargcount


def _text(value: object) -> str:
    try:
        return value_text(value)
    except Exception:  # a subclass of Tensor may refuse to tell even its shape
        return type(value).__qualname__
