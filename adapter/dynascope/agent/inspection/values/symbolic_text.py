"""Write one-line previews of Dynamo's variables, without calling their methods."""

from __future__ import annotations

import enum
import re

import torch

from dynascope.agent.inspection.values.concrete import number_text
from dynascope.agent.inspection.values.rows import ViewOptions
from dynascope.agent.inspection.values.text import (
    NOT_READ,
    PREVIEW_DEPTH,
    depth_shown,
    items_shown,
    preview,
    value_text,
)
from dynascope.agent.internals.sources import source_text
from dynascope.agent.internals.symbolic_shapes.fake_tensors import symbolic_text, tensor_text
from dynascope.agent.internals.variables import held, kinds
from dynascope.agent.internals.variables.variables import class_name, class_names, key_variable, source_object
from dynascope.agent.program.interruption import is_of_program
from dynascope.facts.recompiles.guarded_value import readable

_MEMBER = re.compile(r"\w+(?:\.\w+|\[\d+\])+")
"""A path of modules from a name: `self.blocks[1].attn`."""


def contents(options: ViewOptions, variable: object) -> held.Contents:
    """Return the contents of a variable. Raises only what a signal handler raises."""
    assert options.effects is not None
    try:
        return kinds.contents(variable, options.effects)
    except Exception as error:  # a kind that lacks a field in some torch version must not fail the whole view
        if is_of_program(error):
            raise
        return held.Unset(f"{class_names(variable)[0]}: {type(error).__name__}: {error}", is_error=True)


def variable_text(options: ViewOptions, variable: object, depth: int) -> str:
    """Return one line for a variable, at `depth` 0 alone, else inside another's preview."""
    content = contents(options, variable)
    text = contents_text(options, content, depth)
    return text if depth or type(content) is not held.Object else with_module_path(variable, content.cls, text)


def with_module_path(variable: object, cls: type, text: str) -> str:
    """Return the text of a module with its path: `self.blocks[1].attn (Attention module)`.

    The path begins at the name by which the function that is compiled gets it, and is left out where there is no more.
    """
    if not issubclass(cls, torch.nn.Module):
        return text
    path = readable(source_text(source_object(variable)) or "")
    return f"{path} ({text})" if _MEMBER.fullmatch(path) else text


def contents_text(options: ViewOptions, content: held.Contents, depth: int) -> str:  # noqa: C901 - one case a line
    match content:
        case held.Constant() | held.Real():
            return value_text(content.value, options, depth)
        case held.Tensor():
            if issubclass(type(content.example), torch.Tensor):
                return tensor_text(content.example)
            return "tensor" if content.example is None else number_text(content.example, options)
        case held.Number():
            return number_text(content.symbolic, options)
        case held.Unrealised():
            if options.decided_only:
                return NOT_READ
            if content.computed_from is not None:
                name, arguments = content.computed_from
                texts = [variable_text(options, argument, depth + 1) for argument in arguments]
                return f"{value_text(content.value, options, depth)} = {name}({', '.join(texts)})"
            return value_text(content.value, options, depth)
        case held.Items() | held.Entries() | held.Members():
            return _elements_text(options, content, depth, content.kind)
        case held.Cell():
            return "unset" if content.contents is None else variable_text(options, content.contents, depth)
        case held.Object():
            return _object_text(options, content, depth)
        case held.Parts():
            if not content.call:
                return content.title
            if depth >= depth_shown(options):
                return f"{content.title}(…)"
            texts = [variable_text(options, part, depth + 1) for part in content.parts.values()]
            return f"{content.title}({', '.join(texts[: items_shown(options)])})"
        case held.NestedFunction():
            return f"function {content.name}"
        case held.Unset():
            return content.why


def _elements_text(options: ViewOptions, content: held.Elements, depth: int, name: str) -> str:
    match content:
        case held.Items("torch.Size", items):
            return f"torch.Size([{', '.join([_size_text(options, item) for item in items])}])"
        case held.Items(kind, items, names):
            brackets, count = "[]" if kind in ("list", "deque") else "()", len(items)
            plain = (variable_text(options, item, depth + 1) for item in items)
            texts = (f"{names[i]}={text}" if i < len(names) else text for i, text in enumerate(plain))
        case held.Entries(_, entries):
            brackets, count = "{}", len(entries)
            texts = (
                f"{variable_text(options, key_variable(key), depth + 1)}: {variable_text(options, value, depth + 1)}"
                for key, value in entries.items()
            )
        case held.Members(_, members):
            brackets, count = "{}", len(members)
            texts = (variable_text(options, key_variable(member), depth + 1) for member in members)
    return preview(options, name, brackets, count, depth, texts)


def _size_text(options: ViewOptions, variable: object) -> str:
    content = contents(options, variable)
    if isinstance(content, held.Number):
        return symbolic_text(content.symbolic)
    return contents_text(options, content, PREVIEW_DEPTH)


def _object_text(options: ViewOptions, content: held.Object, depth: int) -> str:
    name = class_name(content.cls)
    if content.builtin_part is not None:
        return _elements_text(options, content.builtin_part, depth, name)
    if issubclass(content.cls, torch.nn.Module):
        return f"{name} module"
    # a member of an enumeration is the same in each call that its guard lets in
    is_told = not options.decided_only or issubclass(content.cls, enum.Enum)
    is_plain = type(content.value) is content.cls and is_told
    return value_text(content.value, options, depth) if is_plain else f"{name} object"
