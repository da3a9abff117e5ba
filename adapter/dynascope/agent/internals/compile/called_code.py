"""Find the Python code that a call runs, by reading attributes without calling anything."""

from __future__ import annotations

import contextlib
import functools
import sys
import types
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

_KEPT = (
    *("_torchdynamo_orig_backend", "compiler_fn", "__wrapped__", "fn"),
    *("_abstract_fn", "_backward_fn", "_setup_context_fn", "_fn"),
)
"""Where wrappers of Dynamo, `torch.compile`, Inductor (2.0), `CustomOpDef` (2.4), `_LeafCallable` (2.12) have them."""
_COMPILERS = ("fw_compiler", "bw_compiler", "inference_compiler")
_MOST = 16


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
