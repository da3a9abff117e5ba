"""Write one-line previews of Dynamo's variables, without calling their methods."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import torch

from dynascope.agent.inspection.values.rows import ViewOptions
from dynascope.agent.inspection.values.tensors import number_text
from dynascope.agent.inspection.values.text import PREVIEW_DEPTH, depth_shown, items_shown, join_preview, value_text
from dynascope.agent.internals.symbolic_shapes.fake_tensors import symbolic_text, tensor_text
from dynascope.agent.internals.variables import kinds
from dynascope.agent.internals.variables.contents import (
    Cell,
    Constant,
    Contents,
    Entries,
    Items,
    Members,
    NestedFunction,
    Number,
    Object,
    Parts,
    Real,
    Tensor,
    Unrealised,
    Unset,
)
from dynascope.agent.internals.variables.variables import class_names, key_variable
from dynascope.agent.program.interruption import is_of_program

_NOT_READ = "…"


def contents(options: ViewOptions, variable: object) -> Contents:
    """Return the contents of a variable. Raises only what a signal handler raises."""
    assert options.effects is not None
    try:
        return kinds.contents(variable, options.effects)
    except Exception as error:  # a kind that lacks a field in some torch version must not fail the whole view
        if is_of_program(error):
            raise
        return Unset(f"{class_names(variable)[0]}: {type(error).__name__}: {error}", is_error=True)


def variable_text(options: ViewOptions, variable: object, depth: int) -> str:
    """Return one line for a variable inside another's preview."""
    return contents_text(options, contents(options, variable), depth)


def contents_text(options: ViewOptions, content: Contents, depth: int) -> str:  # noqa: C901 - one case a line
    match content:
        case Constant() | Real():
            return value_text(content.value, options, depth)
        case Tensor():
            if issubclass(type(content.example), torch.Tensor):
                return tensor_text(content.example)
            return "tensor" if content.example is None else number_text(content.example, options)
        case Number():
            return number_text(content.symbolic, options)
        case Unrealised():
            if options.decided_only:
                return _NOT_READ
            if content.computed_from is not None:
                name, arguments = content.computed_from
                texts = [variable_text(options, argument, depth + 1) for argument in arguments]
                return f"{value_text(content.value, options, depth)} = {name}({', '.join(texts)})"
            return value_text(content.value, options, depth)
        case Items():
            return _items_text(options, content, depth)
        case Entries():
            return _entries_text(options, content, depth)
        case Members():
            return _members_text(options, content, depth)
        case Cell():
            return "unset" if content.contents is None else variable_text(options, content.contents, depth)
        case Object():
            return _object_text(options, content, depth)
        case Parts():
            if not content.call:
                return content.title
            texts = (
                ["…"]
                if depth >= depth_shown(options)
                else [variable_text(options, part, depth + 1) for part in content.parts.values()]
            )
            return f"{content.title}({', '.join(texts[: items_shown(options)])})"
        case NestedFunction():
            return f"function {content.name}"
        case Unset():
            return content.why


def _items_text(options: ViewOptions, content: Items, depth: int, name: str | None = None) -> str:
    if content.kind == "torch.Size":
        return f"torch.Size([{', '.join([_size_text(options, item) for item in content.items])}])"
    brackets = "[]" if content.kind in ("list", "deque") else "()"

    def texts() -> Iterator[str]:
        for i, item in enumerate(content.items):
            text = variable_text(options, item, depth + 1)
            yield f"{content.names[i]}={text}" if i < len(content.names) else text

    return _preview(options, name or content.kind, brackets, len(content.items), depth, texts())


def _size_text(options: ViewOptions, variable: object) -> str:
    content = contents(options, variable)
    return (
        symbolic_text(content.symbolic)
        if isinstance(content, Number)
        else contents_text(options, content, PREVIEW_DEPTH)
    )


def _entries_text(options: ViewOptions, content: Entries, depth: int, name: str | None = None) -> str:
    pairs = (
        f"{variable_text(options, key_variable(key), depth + 1)}: {variable_text(options, value, depth + 1)}"
        for key, value in content.entries.items()
    )
    return _preview(options, name or content.kind, "{}", len(content.entries), depth, pairs)


def _members_text(options: ViewOptions, content: Members, depth: int, name: str | None = None) -> str:
    texts = (variable_text(options, key_variable(member), depth + 1) for member in content.members)
    return _preview(options, name or content.kind, "{}", len(content.members), depth, texts)


def _preview(options: ViewOptions, kind: str, brackets: str, count: int, depth: int, texts: Iterator[str]) -> str:
    if depth >= depth_shown(options) and count:
        return f"{kind} of {count}"
    shown = list(islice(texts, items_shown(options)))
    if shown and all(text == _NOT_READ for text in shown):
        return f"{kind} of {count}"
    prefix = "" if kind in ("list", "tuple", "dict", "set") else kind
    if not count and kind == "set":
        return "set()"
    return join_preview(prefix, brackets, shown, count)


def _object_text(options: ViewOptions, content: Object, depth: int) -> str:
    if content.builtin_part is not None:
        part, name = content.builtin_part, short_name(content.cls)
        if isinstance(part, Items):
            return _items_text(options, part, depth, name)
        return (
            _entries_text(options, part, depth, name)
            if isinstance(part, Entries)
            else _members_text(options, part, depth, name)
        )
    if issubclass(content.cls, torch.nn.Module):
        return f"{short_name(content.cls)} module"
    if options.decided_only or (content.is_new and not content.pending and content.cls is not type(content.value)):
        return f"{short_name(content.cls)} object"
    return (
        value_text(content.value, options, depth)
        if type(content.value) is content.cls
        else f"{short_name(content.cls)} object"
    )


def short_name(cls: type) -> str:
    name: str = type.__dict__["__name__"].__get__(cls)
    return name
