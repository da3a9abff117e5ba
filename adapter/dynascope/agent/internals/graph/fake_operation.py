"""Read the operation that Dynamo computes on fake tensors, where its shapes decide something."""

from __future__ import annotations

import sys
import types
from typing import Any

from dynascope.agent.internals.frames.translators import locals_of
from dynascope.agent.internals.graph.graph import example_of, input_expression
from dynascope.agent.internals.symbolic_shapes.fake_tensors import is_tensor, symbolic_text, tensor_text
from dynascope.facts.recompiles.guarded_value import readable

_COMPUTES = "get_fake_value"


def tensor_of_size(symbol: Any, size: int) -> str:
    """Return `bias: f32[4, 3]`, a tensor of this size that meets the symbol's; "" if none does.

    A parameter or buffer of a module is told as `parameter self.bias: f32[3]`.
    The operation is that of `torch._dynamo.utils.get_fake_value` (2.0), on this thread.
    """
    for node in getattr(_node(), "all_input_nodes", ()):
        value = example_of(node)
        if not is_tensor(value) or str(symbol) in map(symbolic_text, value.shape):
            continue
        if any(type(each) is int and each == size for each in value.shape):  # to compare with a symbol would guard it
            source = input_expression(node) or node.name
            what = next((f"{kind} " for kind in ("parameter", "buffer") if f"._{kind}s[" in source), "")
            return f"{what}{readable(source)}: {tensor_text(value)}"
    return ""


def _node() -> Any:
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == _COMPUTES:
            return locals_of(frame).get("node")
        frame = frame.f_back
    return None
