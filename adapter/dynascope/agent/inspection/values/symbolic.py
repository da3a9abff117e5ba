"""Show Dynamo's VariableTrackers; their fields are read, their methods never called."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from operator import methodcaller
from typing import Any

import torch

from dynascope.agent.inspection.values import concrete
from dynascope.agent.inspection.values.concrete import tensor_rows
from dynascope.agent.inspection.values.guard_rows import about_rows, origin_rows, way_rows
from dynascope.agent.inspection.values.history_rows import History, with_history
from dynascope.agent.inspection.values.locations import Whereabouts, place_of_class, place_of_node, place_of_value
from dynascope.agent.inspection.values.rows import NONE, Children, Row, Rows, ViewOptions, few, virtual
from dynascope.agent.inspection.values.symbolic_text import contents, contents_text, variable_text, with_module_path
from dynascope.agent.inspection.values.text import class_text
from dynascope.agent.internals.variables import held
from dynascope.agent.internals.variables.variables import (
    class_names,
    is_modified,
    is_variable,
    key_variable,
    source_object,
    without_lazy,
)
from dynascope.wire.dap import VariablePresentationHint

LAZY = VariablePresentationHint(attributes=["unrealised"])
"""For variables that Dynamo has not realized: there is no guard on them yet."""


def row(options: ViewOptions, name: str, variable: object, path: str | None) -> Row:
    """Return the row of a variable, with its history where one is recorded."""
    plain = _row(options, name, variable, path)
    if options.history is None:
        return plain
    if path == name:
        return with_history(plain, methodcaller(History.of_name.__name__, name, variable))
    return plain if plain.children is None else with_history(plain, methodcaller(History.of_value.__name__, variable))


def _row(options: ViewOptions, name: str, variable: object, path: str | None) -> Row:
    realized, _ = without_lazy(variable)
    if realized is not None:
        variable = realized
    content = contents(options, variable)
    if type(content) is held.Cell:
        if content.contents is None:
            return Row(name, "unset", type="empty cell", path=path, subject=variable)
        inside = _row(options, name, content.contents, path)
        inside.is_number = False  # the name's variable is the cell
        return inside
    if type(content) is held.Unrealised and content.computed_from is None:
        real = concrete.row(options, name, content.value, path)
        kind = f"{real.type} (not realized by Dynamo yet)"
        if path == name:
            real.value = with_module_path(variable, type(content.value), real.value)
        lazy = Row(name, real.value, kind, path, real.children, LAZY, written_at=real.written_at, subject=variable)
        lazy.is_number = is_number(content)
        return lazy
    text = variable_text(options, variable, 0) if path == name else contents_text(options, content, 0)
    kind = type_text(variable, content)
    value_row = Row(name, text, kind, path, children(variable, content, path), subject=variable)
    value_row.made_at, value_row.written_at = _places(content)
    value_row.is_number = is_number(content)
    return value_row


def is_number(content: held.Contents) -> bool:
    """Whether a value is a number, a bool, a string or None, symbolic or not."""
    match content:
        case held.Number():
            return True
        case held.Constant(value) | held.Unrealised(value):
            return type(value) in (int, float, bool, str, type(None))
    return False


def _places(content: held.Contents) -> tuple[Whereabouts, Whereabouts]:
    match content:
        case held.Tensor() | held.Number():
            return place_of_node(content.node), None
        case held.NestedFunction():
            return None, (content.code.co_filename, content.code.co_firstlineno)
        case held.Object():
            return None, place_of_class(content.cls)
        case held.Constant() | held.Real():
            return None, place_of_value(content.value)
    return None, None


def in_place_of(options: ViewOptions, name: str, value: object, path: str | None) -> Row | None:
    """Return the row of the variable that tracks a real value, or None; for `ViewOptions`."""
    tracked = options.effects.variable_for(value) if options.effects is not None else None
    return None if tracked is None else row(options, name, tracked, path)


def type_text(variable: object, content: held.Contents) -> str:
    """Return the Python type where it is known, else the kind of VariableTracker."""
    kind = class_names(variable)[0]
    match content:
        case held.Constant() | held.Unrealised():
            return class_text(type(content.value))
        case held.Tensor() if kind == "NumpyNdarrayVariable":
            return "numpy.ndarray"
        case held.Tensor():
            return class_text(content.class_type) if content.class_type else "torch.Tensor"
        case held.Object():
            return class_text(content.cls)
        case held.Items() | held.Entries() | held.Members():
            return content.kind
    return kind


def children(variable: object, content: held.Contents, path: str | None) -> Children | None:  # noqa: C901 - one case a line
    """Return a variable's children; the last named rows are its reconstruction and its kind."""
    match content:
        case held.Constant() | held.Real():
            inside = concrete.children(_NO_LOOK, content.value, path)
            return inside or (Children(named=_about(variable)) if source_object(variable) is not None else None)
        case held.Unset() | held.Cell():
            return None
        case held.Tensor():
            if not issubclass(type(content.example), torch.Tensor):
                return None
            return few(functools.partial(_rows_of_tensor, variable, content, path))
        case held.Number():
            return few(lambda options: _number_rows(options, variable, content))
        case held.Unrealised():
            _, arguments = content.computed_from or ("", ())
            return Children(indexed=_element_rows(held.Items("", list(arguments)), None))
        case held.Items() | held.Entries() | held.Members():
            return Children(named=_about(variable), indexed=_element_rows(content, path))
        case held.Object():
            indexed = _element_rows(content.builtin_part, path)
            return Children(named=_attribute_rows(variable, content, path), indexed=indexed)
        case held.Parts():
            return Children(named=_part_and_about_rows(variable, content.parts, path))
        case held.NestedFunction():
            defaults = {"__defaults__": content.defaults, "__kwdefaults__": content.keyword_defaults}
            parts = {**content.cells, **{name: part for name, part in defaults.items() if is_variable(part)}}
            where = virtual("code", f"{content.code.co_filename}:{content.code.co_firstlineno}")
            return Children(named=_part_and_about_rows(variable, parts, None, [where]))


def _rows_of_tensor(variable: object, content: held.Tensor, path: str | None, options: ViewOptions) -> list[Row]:
    origin, kind = origin_rows(options, variable, "made here"), class_names(variable)[0]
    *before, last = tensor_rows(content.example, options, path, content.node, origin, kind)
    return [*before, *way_rows(options, variable), last]


_NO_LOOK = ViewOptions(None)
_ABOUT = 2
"""The number of Dynascope's own rows below a variable."""


def _about(variable: object) -> Rows:
    return Rows(_ABOUT, lambda options, start, stop: iter(about_rows(options, variable)[start:stop]))


def _number_rows(options: ViewOptions, variable: object, content: held.Number) -> list[Row]:
    from dynascope.agent.internals.graph.graph import node_text

    rows = [virtual("node", node_text(content.node))] if content.node is not None else []
    return rows + about_rows(options, variable)


def _element_rows(part: held.Elements | None, path: str | None) -> Rows:
    match part:
        case held.Items():
            return _item_rows(part, path)
        case held.Entries():
            return _entry_rows(part, path)
        case held.Members():
            return _member_rows(part)
    return NONE


def _item_rows(content: held.Items, path: str | None) -> Rows:
    def make(options: ViewOptions, start: int, stop: int) -> Iterator[Row]:
        for i in range(start, min(stop, len(content.items))):
            field = content.names[i] if i < len(content.names) else None
            reach = path and (f"{path}.{field}" if field else f"{path}[{i}]")
            yield row(options, field or f"[{i}]", content.items[i], reach)

    return Rows(len(content.items), make)


def _entry_rows(content: held.Entries, path: str | None) -> Rows:
    def make(options: ViewOptions, start: int, stop: int) -> Iterator[Row]:
        for key, value in islice(content.entries.items(), start, stop):
            variable = key_variable(key)
            key_content = contents(options, variable)
            plain = key_content.value if isinstance(key_content, (held.Constant, held.Unrealised)) else ()
            yield row(options, variable_text(options, variable, 1), value, concrete.subscript(path, plain))

    return Rows(len(content.entries), make)


def _member_rows(content: held.Members) -> Rows:
    def make(options: ViewOptions, start: int, stop: int) -> Iterator[Row]:
        for i, member in enumerate(islice(content.members, start, stop), start):
            yield row(options, f"[{i}]", key_variable(member), None)

    return Rows(len(content.members), make)


def _attribute_rows(variable: object, content: held.Object, path: str | None) -> Rows:
    """Return the real object's attributes, or those set while tracing, then `VariableTracker`."""

    @functools.cache
    def names() -> dict[str, Any]:
        # The `value` of a new object is Dynamo's placeholder: all its attributes are pending.
        real = concrete.instance_attributes(content.value) if type(content.value) is content.cls else {}
        return real | dict.fromkeys(content.pending)

    def make(options: ViewOptions, start: int, stop: int) -> Iterator[Row]:
        real, pending = names(), {**_set_in_module(options, content.value), **content.pending}
        for name in islice(real, start, stop):
            reach = concrete.attribute_path(content.value, path, name)
            if name in pending:
                yield row(options, name, pending[name], reach)
            else:
                yield concrete.row(options, name, real[name], reach)
        if stop > len(real):
            yield from about_rows(options, variable)[max(start - len(real), 0) : stop - len(real)]

    return Rows(lambda: len(names()) + _ABOUT, make, names=names)


def _set_in_module(options: ViewOptions, value: object) -> dict[str, object]:
    """Return a module's members set while tracing, pending in the module's dictionaries."""
    pending: dict[str, object] = {}
    if options.effects is None or not issubclass(type(value), torch.nn.Module):
        return pending
    own = concrete.instance_dictionary(value)
    for group in ("_parameters", "_buffers", "_modules"):
        tracked = options.effects.variable_for(own.get(group))
        variable = None if tracked is None else without_lazy(tracked)[0]
        if variable is None or not is_modified(variable):
            continue
        content = contents(options, variable)
        for key, entry in content.entries.items() if isinstance(content, held.Entries) else ():
            name = contents(options, key_variable(key))
            if isinstance(name, (held.Constant, held.Unrealised)) and type(name.value) is str:
                pending[name.value] = entry
    return pending


def _part_and_about_rows(
    variable: object, parts: Mapping[str, object], path: str | None, more: list[Row] | None = None
) -> Rows:
    def make(options: ViewOptions, start: int, stop: int) -> Iterator[Row]:
        part_rows = (
            row(options, name, part, path and f"{path}.{name}" if name.isidentifier() else None)
            for name, part in parts.items()
        )
        return islice(chain(part_rows, more or (), about_rows(options, variable)), start, stop)

    return Rows(len(parts) + len(more or ()) + _ABOUT, make)
