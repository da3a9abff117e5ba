"""Describe a local that was just assigned in one text; fast, because it runs at every line of every frame."""

from __future__ import annotations

from typing import Any

from dynascope.agent.internals.sources import source_text
from dynascope.agent.internals.symbolic_shapes.fake_tensors import is_tensor, symbolic_text, tensor_text
from dynascope.agent.internals.variables.variables import class_names, fields, without_lazy

Texts = dict[Any, tuple[Any, str]]
"""By FX node: its value and the value's text. The same node is passed down and stored many times."""

_kinds: dict[type, str] = {}


def _kind(variable: object) -> str:
    kind = type(variable)
    known = _kinds.get(kind)
    if known is None:
        names = class_names(variable)
        known = next(
            (
                short
                for name, short in (
                    ("LazyVariableTracker", "lazy"),
                    ("UnspecializedPythonVariable", "number"),
                    ("TensorVariable", "tensor"),
                    ("SymNodeVariable", "number"),
                )
                if name in names
            ),
            "",
        )
        _kinds[kind] = known
    return known


def is_pending(variable: object) -> bool:
    """Whether Dynamo has not read the value yet (`LazyVariableTracker`, 2.1): retry at the end."""
    return _kind(variable) == "lazy" and without_lazy(variable)[0] is None


def tensor_or_number(variable: object, texts: Texts) -> tuple[str, str | None, str | None] | None:
    """Return `(text, node, origin)` of a tensor or symbolic number; None for anything else.

    `node` is the FX node's name, `origin` the source of a graph input (`VariableTracker.source`, 2.0). A lazy variable
    that Dynamo never realised is a real tensor that the graph does not use: its own shape is given.
    """
    kind = _kind(variable)
    if kind == "lazy":
        realised, cache = without_lazy(variable)
        if realised is None:
            value = vars(cache).get("value")
            if not is_tensor(value):
                return None
            return tensor_text(value), None, source_text(vars(cache).get("source"))  # type: ignore[arg-type]
        variable, kind = realised, _kind(realised)
    if kind == "tensor":
        known = fields(variable)
        node = known["proxy"].node
        example = node.meta.get("example_value")
        if not is_tensor(example):
            return None
        written = texts.get(node)
        if written is None or written[0] is not example:
            written = texts[node] = example, tensor_text(example)
        return written[1], node.name, _origin(known, node)
    if kind == "number":
        known = fields(variable)
        proxy = known.get("proxy")
        number = known.get("sym_num")
        node = getattr(proxy, "node", None)
        if number is None and node is not None:
            number = node.meta.get("example_value")
        if number is None:
            return None
        text = tensor_text(number) if is_tensor(number) else symbolic_text(number)
        return text, getattr(node, "name", None), _origin(known, node)
    return None


def _origin(known: dict[str, Any], node: Any) -> str | None:
    return source_text(known.get("source")) if getattr(node, "op", None) == "placeholder" else None
