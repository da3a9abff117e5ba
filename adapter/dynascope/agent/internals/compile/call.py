"""Read a call without calling anything: with which arguments Dynamo compiles a function, and which Python code runs."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import os.path
import sys
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch._dynamo import polyfills

from dynascope.agent.internals.compile.failed_guard import guarded_object, value_text
from dynascope.facts.recompiles.guarded_value import GuardedValue
from dynascope.facts.recompiles.known import Keyed


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


def elements_of(code: types.CodeType, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return tensors and numbers in containers and objects that are passed, and in the closure.

    They have the names that guards give them, `batch['x']`. No code of the program runs.
    """
    parameters = [*code.co_varnames[: _named(code) + bool(code.co_flags & inspect.CO_VARARGS)], keywords_of(code)]
    passed = ((name, values[name]) for name in parameters if name in values and not name.startswith("___"))
    enclosed = [(name, values[name]) for name in code.co_freevars if name in values]
    found = itertools.chain(_told(enclosed), _elements([*passed, *enclosed]))
    return dict(itertools.islice(found, _MOST_ELEMENTS))


def _elements(passed: Iterable[tuple[str, Any]], depth: int = 2) -> Iterator[tuple[str, Any]]:
    for name, value in passed:
        kind = type(value)
        inner: Iterable[tuple[str, Any]] = ()
        if kind is list or kind is tuple:
            inner = [(f"{name}[{place}]", each) for place, each in enumerate(value[:_MOST_ELEMENTS])]
        elif kind is dict:
            inner = [(f"{name}[{key!r}]", each) for key, each in [*value.items()] if type(key) in (str, int)]
        elif not issubclass(kind, _WITHOUT_ELEMENTS):
            inner = [(f"{name}.{attribute}", each) for attribute, each in _attributes(value)]
        yield from _told(inner)
        if depth > 1:
            yield from _elements(inner, depth - 1)


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an object has in its `__dict__`, and the buffers of a module."""
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:  # it has slots, or is of a type that C defines
        return
    if type(attributes) is not dict:
        return
    is_module = issubclass(type(value), torch.nn.Module)
    # copied, because another thread may change the dict while it is read
    yield from (each for each in [*attributes.items()] if not (is_module and each[0] in _OF_MODULES))
    yield from [*(attributes.get("_buffers") or {}).items()] if is_module else ()


def _told(named: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    return (each for each in named if type(each[1]) in (torch.Tensor, torch.nn.Parameter, int, float))


def texts_of(elements: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return elements by name with what they are as text."""
    with torch._C.DisableTorchFunction():
        return [(name, _text(value)) for name, value in elements.items()]


def layouts_of(values: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    """Return strides and storage offset of tensors that are not contiguous, or have an offset."""
    found = []
    with torch._C.DisableTorchFunction():
        for name, value in values.items():
            is_plain = type(value) in (torch.Tensor, torch.nn.Parameter) and not name.startswith("___")
            if not is_plain or value.layout is not torch.strided:
                continue
            with contextlib.suppress(RuntimeError):  # a nested tensor has no strides
                shape, strides, offset = value.shape, value.stride(), value.storage_offset()
                # to compare a symbolic one would add a guard
                if all(type(each) is int for each in (*shape, *strides, offset)):
                    text = _strides_text(shape, strides)
                    found += [(name, text, offset)] if text or offset else []
    return found


def _strides_text(shape: Sequence[int], strides: Sequence[int]) -> str:
    """Return the order of dimensions, and strides that leave gaps, as text; "" if contiguous."""
    order = [] if 0 in shape else [place for place in range(len(shape)) if shape[place] != 1]
    order.sort(key=lambda place: (-strides[place], place))
    expected, gaps = 1, []
    for place in reversed(order):
        # a stride that follows from a size and the stride before is another where that size is
        gaps += [f"{place}: {strides[place]}"] if strides[place] != expected else []
        expected = strides[place] * shape[place]
    told = [] if order == sorted(order) else [f"in order {', '.join(map(str, order))}"]
    return "; ".join([*told, *([f"strides of {', '.join(gaps)}"] if gaps else [])])


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


_KEPT = (
    *("_torchdynamo_orig_backend", "compiler_fn", "__wrapped__", "fn"),
    *("_abstract_fn", "_backward_fn", "_setup_context_fn", "_fn"),
)
"""Where wrappers of Dynamo, `torch.compile`, Inductor (2.0), `CustomOpDef` (2.4), `_LeafCallable` (2.12) have them."""
_COMPILERS = ("fw_compiler", "bw_compiler", "inference_compiler")
_MOST = 16
_WITHOUT_ELEMENTS = (torch.Tensor, type, types.ModuleType, types.FunctionType, types.MethodType)
_OF_MODULES = frozenset(vars(torch.nn.Module()))
"""The attributes that each module has."""
_MOST_ELEMENTS = 64
"""The most elements of arguments that are told."""


def code_of(called: Any, kept_in: Sequence[str] = _KEPT) -> Iterator[types.CodeType]:
    """Yield the code of the functions of something that is called.

    `kept_in`: the attributes in which wrappers have functions. Known are `functools.partial`, the wrappers of
    `torch.compile`, `backends.common.AotAutograd` (2.0) with its compilers, and `torch._library.custom_ops.CustomOpDef`
    (2.4), which fake kernels have in a closure.
    """
    waiting, seen = [called], 0
    while waiting and seen < _MOST:
        each, seen = waiting.pop(), seen + 1
        if isinstance(each, functools.partial):
            waiting += [each.func, *(each.keywords.get(name) for name in _COMPILERS)]
            continue
        if isinstance(each, types.MethodType):
            each = each.__func__
        if isinstance(each, types.FunctionType):
            yield each.__code__
            waiting += _in_closure(each)
        elif (function := _method(type(each), "__call__")) is not None:
            yield function.__code__
        kept = getattr(each, "__dict__", None)
        if type(kept) is dict:
            waiting += [kept[name] for name in kept_in if kept.get(name) is not None]
            given = kept.get("kwargs")
            if type(given) is dict:
                waiting += [given[name] for name in _COMPILERS if name in given]
            if type(name := kept.get("_qualified_op_name")) is str:
                waiting.append(definition(name))


def code_of_arguments(
    values: Iterable[Any], methods: tuple[str, ...] = ("__torch_dispatch__",)
) -> Iterator[types.CodeType]:
    """Yield the code of methods of tensors' classes, also of those in lists."""
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from code_of_arguments(value, methods)
            continue
        for name in methods:
            if (function := _method(type(value), name)) is not None:
                yield function.__code__


def definition(name: str) -> Any:
    """Return the `CustomOpDef` of the operator `namespace::name` (`OPDEFS`, 2.4), or None."""
    operators: Any = sys.modules.get("torch._library.custom_ops")
    return None if operators is None else operators.OPDEFS.get(name)


def _in_closure(function: types.FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # the cell is empty
            content = cell.cell_contents
            if isinstance(content, types.FunctionType) or type(content).__name__ == "CustomOpDef":
                yield content


def _method(cls: type, name: str) -> types.FunctionType | None:
    for base in cls.__mro__:
        method = base.__dict__.get(name)
        if method is not None:
            function = getattr(method, "__func__", method)
            return function if isinstance(function, types.FunctionType) else None
    return None


_POLYFILLS = os.path.dirname(polyfills.__file__)
_MODULE = torch.nn.modules.module.__file__
_ATTRIBUTES = ("__setattr__", "__getattr__", "__delattr__")


def stands_for_builtin(code: types.CodeType) -> bool:
    """Whether this is of `torch._dynamo.polyfills` (2.5), or `module.name = value` calls it."""
    if code.co_filename == _MODULE:
        return code.co_name in _ATTRIBUTES
    return code.co_filename.startswith(_POLYFILLS)
