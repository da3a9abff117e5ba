"""The FX graph Dynamo is building, and how one node is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from dynascope.agent.internals.sources import source_text
from dynascope.agent.internals.symbolic_shapes.fake_tensors import (
    is_fake,
    is_symbolic,
    is_tensor,
    symbolic_text,
    tensor_text,
)

_written_by_repr = frozenset(
    {int, float, bool, str, complex, bytes, type(None), type(...)}
    | {torch.dtype, torch.device, torch.layout, torch.memory_format}
)


def nodes_so_far(output: Any) -> Sequence[Any]:
    """Nodes of the graph being built (`OutputGraph.graph`, 2.0): inside a higher-order operator, of its subgraph."""
    return list(output.graph.nodes)


def size_so_far(output: Any) -> int:
    """How many nodes there are now (`OutputGraph.graph`, 2.0)."""
    return len(output.graph.nodes)


def example_of(node: Any) -> Any:
    """The fake value a node yields (`node.meta["example_value"]`, 2.0), or None before it has run."""
    return node.meta.get("example_value")


def input_expression(node: Any) -> str | None:
    """Return the source of an input, `L['x']` (`node.meta["grapharg"].source`, 2.1); None for another node."""
    return source_text(getattr(node.meta.get("grapharg"), "source", None))


def real_input(node: Any) -> Any:
    """The real tensor of an input of the graph (`node.meta["grapharg"]`, a `GraphArg`, 2.1), None for another."""
    content: Any = getattr(node.meta.get("grapharg"), "_example", None) if node is not None else None
    value = content() if type(content).__name__ == "TensorWeakRef" else content
    return value if is_tensor(value) and not is_fake(value) else None


def example_text(example: Any) -> str:
    """`f32[s0, 16]`, `s0 + 1`, `(f32[3], i64[3])`."""
    if isinstance(example, torch.Tensor):
        return tensor_text(example)
    if type(example) in (tuple, list):
        return f"({', '.join(example_text(part) for part in example)})"
    return symbolic_text(example) if is_symbolic(example) else type(example).__name__


def node_text(node: Any) -> str:
    """`%add : f32[3] = call_function[target=operator.add](args = (%x, 1))`; `Node.format_node` leaves the value out."""
    example = example_of(node)
    typed = f" : {example_text(example)}" if example is not None else ""
    head = f"%{node.name}{typed}"
    if node.op == "placeholder":
        return f"{head} = placeholder[target={node.target}]"
    if node.op == "output":
        return f"return {argument_text(node.args[0]) if node.args else ''}"
    if node.op == "get_attr":
        return f"{head} = get_attr[target={node.target}]"
    return f"{head} = {node.op}[target={target_text(node.target)}]({arguments_text(node)})"


def target_text(target: Any) -> str:
    """The function or method a node calls, as FX writes it."""
    if isinstance(target, str):
        return target
    if isinstance(target, torch._ops.OpOverload | torch._ops.OpOverloadPacket):
        return f"torch.ops.{target}"  # its module is torch._ops
    name = getattr(target, "__name__", None) or type(target).__name__
    module = getattr(target, "__module__", None) or ""
    module = {"_operator": "operator", "builtins": ""}.get(module, module)
    return f"{module}.{name}" if module else str(name)


def arguments_text(node: Any) -> str:
    """`args = (%x, 1), kwargs = {dim: 0}`."""
    text = f"args = {argument_text(node.args)}"
    if node.kwargs:
        text += f", kwargs = {argument_text(node.kwargs)}"
    return text


def argument_text(argument: Any, sigil: str = "%") -> str:
    """An argument of a node; other nodes as `%name`. Never calls a user's `__repr__`."""
    kind = type(argument)
    if issubclass(kind, torch.fx.Node):
        return f"{sigil}{argument.name}"
    if issubclass(kind, (tuple, list)):
        body = ", ".join([argument_text(part, sigil) for part in argument])
        if issubclass(kind, tuple):
            return f"({body},)" if len(argument) == 1 else f"({body})"
        return f"[{body}]"
    if issubclass(kind, dict):
        return "{" + ", ".join(f"{key}: {argument_text(part, sigil)}" for key, part in argument.items()) + "}"
    if is_symbolic(argument):
        return symbolic_text(argument)
    if kind in _written_by_repr:
        return repr(argument)
    if issubclass(kind, torch.Tensor):
        return tensor_text(argument)
    if kind is slice:
        bounds = argument.start, argument.stop, argument.step
        return f"slice({', '.join(argument_text(part, sigil) for part in bounds)})"
    return target_text(argument)


def user_line(node: Any) -> str | None:
    """`file:line` of the user's code a node came from, by the stack Dynamo notes (`node.meta["stack_trace"]`, 1.13)."""
    place = user_place(node)
    return f"{place[0]}:{place[1]}" if place is not None else None


def user_place(node: Any) -> tuple[str, int] | None:
    """File and line of the user's code a node came from (`node.meta["stack_trace"]`, 1.13): the innermost frame."""
    found = innermost_frame(node.meta.get("stack_trace"))
    return found and found[:2]


def innermost_frame(stack: str | None) -> tuple[str, int, str] | None:
    """File, line and the rest (`forward`, a newline, the line's text) of the last frame in a formatted stack."""
    start = stack.rfind('File "') if stack else -1
    if stack is None or start < 0:
        return None
    file, _, rest = stack[start + 6 :].partition('", line ')
    number, _, rest = rest.partition(", in ")
    return (file, int(number), rest) if number.isdecimal() else None
