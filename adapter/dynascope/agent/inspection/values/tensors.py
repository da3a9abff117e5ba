"""List the rows below a tensor, whether traced, real, or the result of an evaluation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from dynascope.agent.inspection.values.locations import place_of_node
from dynascope.agent.inspection.values.rows import Children, Row, ViewOptions, fixed, virtual
from dynascope.agent.inspection.values.text import integer_text
from dynascope.agent.internals.graph.graph import node_text
from dynascope.agent.internals.symbolic_shapes.fake_tensors import (
    hint_of,
    is_symbolic,
    shape_text,
    stride_text,
    symbolic_text,
)


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
