"""Write short texts of plain Python values without running the user's code."""

from __future__ import annotations

import collections
import enum
import functools
import traceback
import types
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import torch

from dynascope.agent.inspection.values.rows import PAGE_LIMIT, ViewOptions
from dynascope.agent.internals.sources import is_source, source_text
from dynascope.agent.internals.symbolic_shapes.fake_tensors import (
    expression_text,
    is_expression,
    is_symbolic,
    node_expression,
    symbolic_text,
    tensor_text,
)
from dynascope.agent.internals.variables.variables import class_name
from dynascope.facts.file_names import short_name

STRING_LIMIT = 200
PREVIEW_ITEMS = 5
PREVIEW_DEPTH = 2
_WHOLE_DEPTH = 20
"""The maximum depth of a text for the clipboard: a container may contain itself."""

_as_written = frozenset({torch.dtype, torch.device, torch.layout, torch.memory_format, type(None), type(...)})
_qualname = type.__dict__["__qualname__"]
_module = type.__dict__["__module__"]
_brackets: dict[type, str] = {list: "[]", tuple: "()", set: "{}", frozenset: "{}", dict: "{}", collections.deque: "[]"}


def class_text(cls: type) -> str:
    """Return `package.module.Class`, without the module for builtins; metaclasses are bypassed."""
    name: str = _qualname.__get__(cls)
    module = _module.__get__(cls)
    return name if module in ("builtins", "__main__") or not isinstance(module, str) else f"{module}.{name}"


def short_class_text(value: object) -> str:
    """Return the name of a value's class, without its module."""
    return class_name(type(value))


def integer_text(value: int, options: ViewOptions) -> str:
    return hex(value) if options.hexadecimal else int.__repr__(value)


def items_shown(options: ViewOptions) -> int:
    """Return the maximum number of items in a container's text."""
    return PAGE_LIMIT if options.whole else PREVIEW_ITEMS


def depth_shown(options: ViewOptions) -> int:
    """Return the maximum depth at which a nested container's text has items."""
    return _WHOLE_DEPTH if options.whole else PREVIEW_DEPTH


def string_text(value: str | bytes, options: ViewOptions) -> str:
    """Return `repr`; of a long string, the beginning and length unless for the clipboard."""
    if len(value) <= STRING_LIMIT or options.whole:
        return repr(value)
    return f"{value[:STRING_LIMIT]!r}… ({len(value):,} {'bytes' if isinstance(value, bytes) else 'characters'})"


def builtin_part_of(value: object) -> type | None:
    """Return list, tuple, dict … when the value is one or a subclass's instance, else None."""
    kind = type(value)
    return kind if kind in _brackets else next((base for base in _brackets if issubclass(kind, base)), None)


def length_of(value: Any, builtin: type) -> int:
    """Return the length by the builtin's own method, even if a subclass overrides it."""
    length: int = builtin.__len__(value)  # type: ignore[attr-defined]
    return length


def value_text(value: Any, options: ViewOptions, depth: int = 0) -> str:
    """Return one line: a preview of a container, a tensor's metadata, or an object's class."""
    kind = type(value)
    if kind is bool or kind is float or kind is complex:
        return repr(value)
    if kind is int:
        return integer_text(value, options)
    if kind is str or kind is bytes:
        return string_text(value, options)
    if kind in _as_written:
        return str(value)
    if is_symbolic(value):
        return symbolic_text(value)
    if issubclass(kind, torch.Tensor):
        return tensor_text(value)
    if issubclass(kind, enum.Enum):
        return f"{short_class_text(value)}.{vars(value).get('_name_')}"
    return _composite_text(value, options, depth)


def write_as(kind: type, writer: Callable[[Any, ViewOptions, int], str]) -> None:
    """Write values of exactly this class of Dynascope with `writer` (value, options, depth)."""
    _writers[kind] = writer


def _composite_text(value: Any, options: ViewOptions, depth: int) -> str:  # noqa: C901 - one case a line
    kind = type(value)
    if is_expression(value):
        return expression_text(value)
    if (expression := node_expression(value)) is not None:
        return expression_text(expression)
    if kind is torch.fx.Proxy or kind is torch.fx.Node:
        return f"%{value.node.name if kind is torch.fx.Proxy else value.name}"
    if is_source(value):
        return source_text(value) or short_class_text(value)
    builtin = builtin_part_of(value)
    if builtin is not None:
        return container_text(value, builtin, options, depth)
    writer = _writers.get(kind)
    if writer is not None:
        return writer(value, options, depth + 1)
    if issubclass(kind, type):
        return f"class {class_text(value)}"
    if issubclass(kind, (int, str, float)):
        return f"{short_class_text(value)}({next(b for b in (int, str, float) if issubclass(kind, b)).__repr__(value)})"
    if issubclass(kind, torch.nn.Module):
        return f"{short_class_text(value)} module"
    if issubclass(kind, BaseException):
        return call_text(short_class_text(value), exception_arguments(value), options, depth)
    if is_numpy(value):
        return _numpy_text(value)
    return f"{short_class_text(value)} object"


def call_text(name: str, arguments: Any, options: ViewOptions, depth: int) -> str:
    """Return `name(a, b, …)`."""
    texts = [value_text(argument, options, depth + 1) for argument in arguments[: items_shown(options)]]
    return f"{name}({', '.join(texts)}{', …' if len(arguments) > items_shown(options) else ''})"


def exception_arguments(value: BaseException) -> tuple[Any, ...]:
    """Return `args`, even if a subclass overrides that name."""
    arguments: tuple[Any, ...] = BaseException.__dict__["args"].__get__(value)
    return arguments


def is_numpy(value: object) -> bool:
    """Whether `value` is an array or scalar of numpy itself, not of a subclass."""
    return type(value).__module__ == "numpy" and hasattr(type(value), "__array_interface__")


def _numpy_text(value: Any) -> str:
    if type(value).__name__ == "ndarray":
        return f"ndarray {value.dtype.name}[{', '.join(map(str, value.shape))}]"
    return f"{type(value).__name__}({value.item()!r})"


def _line(path: str, line: int | None) -> str:
    return f"{short_name(path)}:{line}"


_NOTHING_IN: tuple[object, ...] = ({}.keys(), {}.values(), {}.items())
_writers: dict[type, Callable[[Any, ViewOptions, int], str]] = {
    types.FunctionType: lambda value, options, depth: f"function {value.__qualname__}",
    types.BuiltinFunctionType: lambda value, options, depth: f"function {value.__qualname__}",
    types.MethodType: lambda value, options, depth: f"bound method {getattr(value.__func__, '__qualname__', '?')}",
    types.CodeType: lambda value, options, depth: (
        f"code {value.co_qualname} at {_line(value.co_filename, value.co_firstlineno)}"
    ),
    traceback.FrameSummary: lambda value, options, depth: f"{value.name} at {_line(value.filename, value.lineno)}",
    types.ModuleType: lambda value, options, depth: (
        f"module {object.__getattribute__(value, '__dict__').get('__name__')}"
    ),
    types.GeneratorType: lambda value, options, depth: (
        f"generator {value.gi_code.co_qualname} "
        + (f"at line {value.gi_frame.f_lineno}" if value.gi_frame else "exhausted")
    ),
    slice: lambda value, options, depth: call_text("slice", (value.start, value.stop, value.step), options, depth),
    range: lambda value, options, depth: call_text("range", (value.start, value.stop, value.step), options, depth),
    **{
        type(view): lambda value, options, depth: (
            f"{short_class_text(value)}({value_text(list(value), options, depth - 1)})"
        )
        for view in _NOTHING_IN
    },
    functools.partial: lambda value, options, depth: call_text(
        "partial", (value.func, *value.args, *value.keywords.values()), options, depth
    ),
}


def container_text(value: Any, builtin: type, options: ViewOptions, depth: int) -> str:
    """Return `[f32[3], 2, … 9 items]`, or `list of 9` deep inside another preview."""
    if type(value) is torch.Size:
        return f"torch.Size([{', '.join(map(symbolic_text, value))}])"
    texts = _item_texts(value, builtin, options, depth + 1)
    return preview(options, short_class_text(value), _brackets[builtin], length_of(value, builtin), depth, texts)


def _item_texts(value: Any, builtin: type, options: ViewOptions, depth: int) -> Iterator[str]:
    if builtin is dict:
        for key, item in dict.items(value):
            yield f"{value_text(key, options, depth)}: {value_text(item, options, depth)}"
        return
    names = field_names(value) if builtin is tuple else ()
    for i, item in enumerate(builtin.__iter__(value)):  # type: ignore[attr-defined]
        text = value_text(item, options, depth)
        yield f"{names[i]}={text}" if i < len(names) else text


def field_names(value: object) -> tuple[str, ...]:
    """Return the fields of a namedtuple."""
    names = getattr(type(value), "_fields", ())
    return names if type(names) is tuple else ()


NOT_READ = "…"
"""Stands for a value that is not read."""


def preview(options: ViewOptions, name: str, brackets: str, count: int, depth: int, texts: Iterator[str]) -> str:
    """Return a preview: `[a, b]`, `set()`, `(a,)`, `OrderedDict{…}`.

    With too many items it is `[a, b, … 10 items]`, and deep inside `list of 9`.
    """
    if depth >= depth_shown(options) and count:
        return f"{name} of {count}"
    if not count and name == "set":
        return "set()"
    prefix = "" if name in ("list", "tuple", "dict", "set") else name
    shown = list(islice(texts, items_shown(options)))
    if shown and all(text == NOT_READ for text in shown):
        return f"{name} of {count}"
    body = ", ".join(shown)
    if count > len(shown):
        body += f", … {count:,} items" if shown else f"{count:,} items"
    elif brackets == "()" and count == 1 and not prefix:
        body += ","
    return f"{prefix}{brackets[0]}{body}{brackets[1]}"
