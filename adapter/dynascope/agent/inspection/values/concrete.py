"""Show real Python values, and tensors of any kind: unrealized ones, in objects, in running frames, in results.

Only instance dictionaries and slots are read: no property, `__getattr__`, `__repr__` or `__len__` of the user runs.
Where Dynamo tracks the same object, its pending state is shown instead of the real one.
"""

from __future__ import annotations

import enum
import functools
import types
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import torch

from dynascope.agent.inspection.values.locations import place_of_node, place_of_value
from dynascope.agent.inspection.values.rows import NONE, Children, Row, Rows, ViewOptions, few, fixed, virtual
from dynascope.agent.inspection.values.stand_ins import StandIn, named_of
from dynascope.agent.inspection.values.text import (
    builtin_part_of,
    class_text,
    exception_arguments,
    field_names,
    integer_text,
    length_of,
    short_class_text,
    value_text,
)
from dynascope.agent.internals.frames.translators import locals_of
from dynascope.agent.internals.graph.graph import node_text
from dynascope.agent.internals.symbolic_shapes.fake_tensors import (
    hint_of,
    is_fake,
    is_symbolic,
    shape_text,
    stride_text,
    symbolic_text,
)
from dynascope.agent.internals.variables.held import MISSING
from dynascope.agent.internals.weak_keys import WeakKeys
from dynascope.agent.program.interruption import is_of_program
from dynascope.wire.dap import VariablePresentationHint

_MODULE_BOOKKEEPING = frozenset(vars(torch.nn.Module())) - {"training"}
_METHOD = VariablePresentationHint(kind="method")


def row(options: ViewOptions, name: str, value: Any, path: str | None) -> Row:
    """Return the row of a real value, of its tracked variable, or of a stand-in's object."""
    if issubclass(type(value), StandIn):
        named_row: Row = named_of(value).row(options, name, path)
        return named_row
    try:
        return options.in_place_of(options, name, value, path) or untracked_row(options, name, value, path)
    except Exception as error:  # a class whose inspection raises: the rest of the page must still show
        if is_of_program(error):
            raise
        return Row(name, f"cannot be shown ({type(error).__name__})", path=path)


def untracked_row(options: ViewOptions, name: str, value: Any, path: str | None) -> Row:
    """Return the row of a real value without Dynamo's state."""
    text = number_text(value, options) if is_symbolic(value) else value_text(value, options)
    hint = _METHOD if type(value) in (types.FunctionType, types.MethodType, types.BuiltinFunctionType) else None
    below = children(options, value, path)
    written_at = None if type(value) in _WRITTEN_NOWHERE else place_of_value(value)
    return Row(name, text, type_text(value), path, below, hint, written_at=written_at)


def type_text(value: Any) -> str:
    """Return the name of the class; `torch.Tensor` for a fake."""
    return "torch.Tensor" if is_fake(value) else class_text(type(value))


def children(options: ViewOptions, value: Any, path: str | None) -> Children | None:
    """Return the children of a real value, or None."""
    kind = type(value)
    if kind in _LEAVES:
        return None
    if issubclass(kind, torch.Tensor):
        return few(lambda options: tensor_rows(value, options, path, kind=short_class_text(value)))
    builtin = builtin_part_of(value)
    indexed = elements(value, builtin, path) if builtin is not None else NONE
    if builtin is not None and kind is builtin:
        return Children(indexed=indexed) if indexed.count else None
    named = attributes(value, path)
    return Children(named=named, indexed=indexed) if named.count or indexed.count else None


_LEAVES = frozenset(
    {int, float, bool, str, bytes, complex, type(None), type(...), type, types.ModuleType, types.BuiltinFunctionType}
    | {torch.dtype, torch.device, torch.layout, torch.memory_format}
)


_WRITTEN_NOWHERE = _LEAVES - {type, types.ModuleType} | {list, tuple, dict, set, frozenset, torch.Tensor}


def elements(value: Any, builtin: type, path: str | None) -> Rows:
    """Return the rows of a builtin container's elements, read by the builtin's own iteration."""

    def make(options: ViewOptions, start: int, stop: int) -> Iterator[Row]:
        if builtin is dict:
            for key, item in islice(dict.items(value), start, stop):
                yield row(options, value_text(key, options, 1), item, subscript(path, key))
        elif builtin in (set, frozenset):
            for i, item in enumerate(islice(builtin.__iter__(value), start, stop), start):
                yield row(options, f"[{i}]", item, None)
        else:
            names = field_names(value) if builtin is tuple else ()
            for i in range(start, min(stop, length_of(value, builtin))):
                item = builtin.__getitem__(value, i)  # type: ignore[index]
                field = names[i] if i < len(names) else None
                yield row(options, field or f"[{i}]", item, path and (f"{path}.{field}" if field else f"{path}[{i}]"))

    return Rows(length_of(value, builtin), make)


def subscript(path: str | None, key: object) -> str | None:
    """Return `path['key']` for keys that can be written as literals, else None."""
    return f"{path}[{key!r}]" if path and type(key) in (str, int, bool, type(None)) else None


def attributes(value: Any, path: str | None) -> Rows:
    """Return rows of an instance's own attributes; an nn.Module's modules and tensors first."""

    @functools.cache
    def content() -> dict[str, Any]:
        return instance_attributes(value)

    def make(options: ViewOptions, start: int, stop: int) -> Iterator[Row]:
        for name, item in islice(content().items(), start, stop):
            yield row(options, name, item, attribute_path(value, path, name))

    return Rows(lambda: len(content()), make, names=content)


def attribute_path(owner: Any, path: str | None, name: str) -> str | None:
    """Return the expression for an attribute (in nn.Sequential a subscript), or None."""
    if not path or goes_first(in_class(type(owner), name)):
        return None
    if name.isidentifier():
        return f"{path}.{name}"
    if issubclass(type(owner), (torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ParameterList)) and name.isdigit():
        return f"{path}[{name}]"
    if issubclass(type(owner), (torch.nn.ModuleDict, torch.nn.ParameterDict)):
        return f"{path}[{name!r}]"
    return None


def in_class(cls: type, name: str) -> Any:
    """Return the attribute of a class or its bases, without binding it, or MISSING."""
    for base in cls.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return MISSING


def goes_first(member: Any) -> bool:
    """Whether a class attribute precedes the instance's: a property or data descriptor."""
    if isinstance(member, property):
        return True
    if type(in_class(type(member), "__get__")) is not types.FunctionType:
        return False
    return any(in_class(type(member), name) is not MISSING for name in ("__set__", "__delete__"))


def instance_attributes(value: Any) -> dict[str, Any]:
    """Return the instance dictionary and slots by name; for a function, its closure."""
    if type(value) is types.FunctionType:
        return {
            name: _cell(cell) for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=False)
        }
    if (parts := _parts.get(type(value))) is not None:
        return parts(value)
    if issubclass(type(value), enum.Enum):
        return {"name": vars(value).get("_name_"), "value": vars(value).get("_value_")}
    if issubclass(type(value), BaseException):
        return {f"args[{i}]": item for i, item in enumerate(exception_arguments(value))} | instance_dictionary(value)
    if issubclass(type(value), type):
        return {}
    content = instance_dictionary(value)
    if issubclass(type(value), torch.nn.Module) and "_parameters" in content:
        members: dict[str, Any] = {}
        for group in ("_modules", "_parameters", "_buffers"):
            members.update(content.get(group) or {})
        return members | {name: item for name, item in content.items() if name not in _MODULE_BOOKKEEPING}
    return {**{name: item for name, item in content.items() if type(name) is str}, **slots(value)}


_parts: dict[type, Callable[[Any], dict[str, Any]]] = {
    types.MethodType: lambda value: {"__self__": value.__self__, "__func__": value.__func__},
    functools.partial: lambda value: {"func": value.func, "args": value.args, "keywords": value.keywords},
    types.GeneratorType: lambda value: locals_of(value.gi_frame) if value.gi_frame else {},
}


_Storage = tuple[bool, tuple[str, ...]]
_storages: WeakKeys[type, _Storage] = WeakKeys()
"""Names, not descriptors: these would keep the class alive."""


def _storage(cls: type) -> _Storage:
    """Return whether instances have a `__dict__`, and the slots of this class alone.

    A `__dict__` that the class defines as a property is the program's code, and does not count.
    """
    return _storages.get(cls) or _storages.put(cls, _find_storage(cls))


def _find_storage(cls: type) -> _Storage:
    of_bases = [vars(base) for base in cls.__mro__]
    dictionary = next((content["__dict__"] for content in of_bases if "__dict__" in content), None)
    has_dictionary = type(dictionary) in (types.GetSetDescriptorType, types.MemberDescriptorType)
    content = of_bases[0] if "__slots__" in of_bases[0] else {}
    members = [name for name, each in content.items() if type(each) is types.MemberDescriptorType]
    return has_dictionary, tuple(name for name in members if not name.startswith("__"))


def instance_dictionary(value: Any) -> dict[str, Any]:
    """Return the instance `__dict__`; empty if the class defines it as a property."""
    if not _storage(type(value))[0]:
        return {}
    content = object.__getattribute__(value, "__dict__")
    return content if type(content) is dict else {}


def slots(value: Any) -> dict[str, Any]:
    """Return the values of `__slots__`, read by their descriptors, which run no user code."""
    values: dict[str, Any] = {}
    for base in type(value).__mro__:
        for name in _storage(base)[1]:
            try:
                values.setdefault(name, vars(base)[name].__get__(value, type(value)))
            except (AttributeError, KeyError):  # not set yet; or the program has deleted the descriptor
                continue
    return values


def _cell(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return "<empty cell>"


def number_text(value: Any, options: ViewOptions) -> str:
    """Return `s0 = 8` for a symbolic number with a hint, `u0` without; a plain number as is."""
    if not is_symbolic(value):
        return integer_text(value, options) if type(value) is int else str(value)
    text, hint = symbolic_text(value), hint_of(value)
    if hint is None or options.decided_only:
        return text
    number = integer_text(hint, options) if type(hint) is int else str(hint)
    return number if text == str(hint) else f"{text} = {number}"


def tensor_rows(
    tensor: torch.Tensor,
    options: ViewOptions,
    path: str | None,
    node: Any = None,
    origin: Iterable[Row] = (),
    kind: str | None = None,
) -> list[Row]:
    """Return the rows of a tensor's attributes, then of its origin, FX node and kind."""
    at = f"{path}." if path else None

    def attribute(name: str, text: str, suffix: str = "", children: Children | None = None) -> Row:
        return Row(name, text, path=at and f"{at}{name}{suffix}", children=children)

    sizes = [
        Row(str(i), number_text(size, options), type=type(size).__name__, path=at and f"{at}shape[{i}]", subject=size)
        for i, size in enumerate(tensor.shape)
    ]
    rows = [
        attribute(
            "shape", f"torch.Size({shape_text(tensor)})", children=Children(indexed=fixed(sizes)) if sizes else None
        ),
        attribute("stride", stride_text(tensor), "()"),
        attribute("dtype", str(tensor.dtype)),
        attribute("device", str(tensor.device)),
        attribute("layout", str(tensor.layout)),
        attribute("requires_grad", str(tensor.requires_grad)),
    ]
    rows += origin
    if node is not None:
        rows.append(virtual("node", node_text(node), made_at=place_of_node(node)))
    rows.append(virtual("kind", kind or type(tensor).__name__))
    return rows
