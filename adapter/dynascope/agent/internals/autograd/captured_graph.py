"""Read the graph that compiled autograd builds: its nodes' values, its dummies, and scalars that may move to CUDA."""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from dynascope.agent.internals.graph.graph import target_text, user_line, written
from dynascope.agent.internals.symbolic_shapes.fake_tensors import is_symbolic, symbolic_text, tensor_text

_ASSIGNMENT = re.compile(r"\s+(\w+)(?:\s*:[^=]+)? = ")
_NAMED_NODE_CALL = re.compile(r"\S+ \(NodeCall \d+\)")
_NODE_CALL = re.compile(r"\(NodeCall (\d+)\)")
_HOOK_CALLS = frozenset({"call_hook", "call_cpp_tensor_pre_hooks"})
_DUMMIES = frozenset({(0, 123456789), (0, 0, 0, 0, 123)})


def node_names(graph: Any) -> tuple[str, ...]:
    """Return the names of all nodes in order."""
    return tuple(node.name for node in graph.nodes) if graph is not None else ()


def value_of(node: Any) -> Any:
    """Return a node's fake value (`node.meta["val"]`, 2.0); None once `end_capture` dropped it."""
    return node.meta.get("val")


def is_dummy(value: Any) -> bool:
    """Whether a fake is a placeholder for a gradient of unknown shape (`allocate_dummy`, 2.6)."""
    if not issubclass(type(value), torch.Tensor):
        return False
    return tuple(size if type(size) is int else -1 for size in value.shape) in _DUMMIES


def value_text(value: Any) -> str:
    """Return `f32[3, 8] cuda:0`; `a dummy` for an unknown gradient; `(f32[3], f32[4])`."""
    if issubclass(type(value), torch.Tensor):
        return "a dummy" if is_dummy(value) else tensor_text(value)
    if type(value) in (tuple, list):
        return f"({', '.join(value_text(part) for part in value)})"
    return symbolic_text(value) if is_symbolic(value) else type(value).__name__


def node_text(node: Any) -> str:
    """Return a node's text as in the Graph scope: `%mm : f32[3, 8] = call_function[…](…)`."""
    return written(node, value_of(node), value_text)


def input_nodes(graph: Any) -> dict[int, Any]:
    """Return the nodes that take `inputs[i]`, by i (`_graph_placeholders`, 2.1)."""
    inputs = next((node for node in graph.nodes if node.op == "placeholder" and node.target == "inputs"), None)
    if inputs is None:
        return {}
    return {user.args[1]: user for user in inputs.users if len(user.args) > 1 and type(user.args[1]) is int}


@dataclass(frozen=True, slots=True)
class ScalarMove:
    """One CPU scalar among the inputs, and why it stays on the CPU; None when it may move."""

    position: int
    stays_because: str | None


def scalar_moves(graph: Any, inputs: Sequence[Any]) -> list[ScalarMove]:
    """Return the CPU scalars in `inputs` (fakes) by `move_graph_nodes_to_cuda`'s rules (2.4)."""
    nodes = input_nodes(graph)
    any_cuda = any(each.device.type == "cuda" for each in inputs)
    return [
        ScalarMove(position, _why_it_stays(nodes.get(position), any_cuda))
        for position, each in enumerate(inputs)
        if each.device.type == "cpu" and each.dim() == 0
    ]


def _why_it_stays(node: Any, any_cuda: bool) -> str | None:
    if not any_cuda:
        return "no input is on CUDA, so the graph runs on the CPU"
    if not uses_cudagraphs():
        return "torch._inductor.config.triton.cudagraphs is off, and only CUDA graphs need it on the GPU"
    for user in node.users if node is not None else ():
        if not _is_operator(user.target):
            return f"%{user.name} hands it to {target_text(user.target)}, which is not an operator of PyTorch's own"
    return None


def uses_cudagraphs() -> bool:
    """Whether inductor records CUDA graphs (`torch._inductor.config.triton.cudagraphs`, 2.0)."""
    inductor = sys.modules.get("torch._inductor.config")
    return bool(inductor is not None and inductor.triton.cudagraphs)


def _is_operator(target: Any) -> bool:
    if issubclass(type(target), torch._ops.OpOverload):
        return target.namespace in ("prims", "aten")
    op = sys.modules["torch._dynamo.compiled_autograd"].Op
    return issubclass(type(target), op) and not target.is_custom_function


def last_call(graph: Any) -> str | None:
    """Return the name of the last hook's node (`external_utils.call_hook`, 2.1; C++ hooks, 2.7)."""
    for node in reversed(graph.nodes) if graph is not None else ():
        if node.op == "call_function" and getattr(node.target, "__name__", "") in _HOOK_CALLS:
            return str(node.name)
    return None


def input_position(node: Any) -> int | None:
    """Return the i of a node that takes `inputs[i]`; None for any other."""
    if node.op == "call_function" and target_text(node.target) == "operator.getitem":
        source, position = node.args
        if getattr(source, "op", None) == "placeholder" and source.target == "inputs" and type(position) is int:
            return position
    return None


def node_call_of(node: Any) -> int | None:
    """Return the NodeCall recorded for a node by the capture (`set_node_origin`, 2.2), or None.

    Nodes copied from a compiled forward's own backward have the forward's stack instead.
    """
    match = _NODE_CALL.search(str(node.meta.get("stack_trace") or ""))
    return int(match[1]) if match else None


def node_call_text(node: Any) -> str | None:
    """Return `MmBackward0 (NodeCall 3)` from the stack that the capture recorded, or None."""
    match = _NAMED_NODE_CALL.search(str(node.meta.get("stack_trace") or ""))
    return match[0] if match else None


def forward_line_of(node: Any) -> str | None:
    """Return `file:line` in the forward, for a node from a compiled forward's own backward."""
    return None if node_call_of(node) is not None else user_line(node)


def lines_of(module: Any) -> tuple[str, dict[int, str]]:
    """Return the file name of a captured graph under trace, and the node computed on each line.

    Such a file exists only in linecache (`torch.fx.graph_module._loader`, 1.8).
    """
    forward = getattr(type(module), "forward", None)
    code = getattr(forward, "__code__", None)
    if code is None:
        return "", {}
    found = {}
    for number, line in enumerate(linecache.getlines(code.co_filename), 1):
        match = _ASSIGNMENT.match(line)
        if match:
            found[number] = match[1]
    return code.co_filename, found
