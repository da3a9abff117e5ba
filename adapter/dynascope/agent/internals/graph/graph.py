"""Read the FX graph Dynamo is building, and write its nodes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
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

OPERATORS = (torch._ops.OpOverload, torch._ops.OpOverloadPacket)
_CHANGING_OPERATORS = {"setitem", "iadd", "iand", "ifloordiv", "ilshift", "imatmul", "imod", "imul", "ior"} | {
    "ipow",
    "irshift",
    "isub",
    "itruediv",
    "ixor",
}
"""The functions of `operator` that change their first argument."""


def nodes_so_far(output: Any) -> Sequence[Any]:
    """Return the nodes of the graph or subgraph being built (`OutputGraph.graph`, 2.0)."""
    return list(output.graph.nodes)


def has_operations(output: Any) -> bool:
    """Whether the graph or subgraph being built has more than inputs (`OutputGraph.graph`, 2.0)."""
    return any(each.op.startswith("call_") for each in output.graph.nodes)


def size_so_far(output: Any) -> int:
    """Return the number of nodes now (`OutputGraph.graph`, 2.0)."""
    return len(output.graph.nodes)


def example_of(node: Any) -> Any:
    """Return a node's fake value (`node.meta["example_value"]`, 2.0), or None before it has run."""
    return node.meta.get("example_value")


def input_expression(node: Any) -> str | None:
    """Return an input's source, `L['x']` (`node.meta["grapharg"].source`, 2.1), or None."""
    return source_text(getattr(node.meta.get("grapharg"), "source", None))


def input_nodes(node: Any) -> list[Any]:
    """Return the nodes that a node takes (`Node.all_input_nodes`, 1.8)."""
    return list(node.all_input_nodes)


def changes_its_argument(node: Any) -> bool:
    """Whether a node changes its first argument: `x.add_(1)`, `x[0] = 1`, `x += 1`."""
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
    if node.op == "call_function" and getattr(node.target, "__module__", "") == "_operator":
        return name in _CHANGING_OPERATORS
    return node.op in ("call_method", "call_function") and name.endswith("_") and not name.endswith("__")


def changed_arguments(node: Any) -> list[Any]:
    """Return the nodes of the tensors that a node writes into: `x.add_(1)`, `out=x`.

    Those of an operator are told by its schema (`OpOverload._schema`, 1.11).
    """
    if node.op not in ("call_method", "call_function"):
        return []
    written = [node.kwargs.get("out")]
    if node.args and (changes_its_argument(node) or node.kwargs.get("inplace") is True):
        written.append(node.args[0])
    arguments = getattr(getattr(node.target, "_schema", None), "arguments", ())
    for place, each in enumerate(arguments):
        if each.alias_info is not None and each.alias_info.is_write:
            written.append(node.args[place] if place < len(node.args) else node.kwargs.get(each.name))
    found: list[Any] = []
    torch.fx.node.map_arg(tuple(written), found.append)
    return found


def real_input(node: Any) -> Any:
    """Return an input's real tensor (`node.meta["grapharg"]`, a `GraphArg`, 2.1), or None."""
    content: Any = getattr(node.meta.get("grapharg"), "_example", None) if node is not None else None
    value = content() if type(content).__name__ == "TensorWeakRef" else content
    return value if is_tensor(value) and not is_fake(value) else None


def example_text(example: Any) -> str:
    """Return the text of a value: `f32[s0, 16]`, `s0 + 1`, `(f32[3], i64[3])`."""
    if isinstance(example, torch.Tensor):
        return tensor_text(example)
    if type(example) in (tuple, list):
        return f"({', '.join(example_text(part) for part in example)})"
    return symbolic_text(example) if is_symbolic(example) else type(example).__name__


def node_text(node: Any) -> str:
    """Return `%add : f32[3] = call_function[…](…)`, with the value that Dynamo has for the node."""
    return written(node, example_of(node), example_text)


def written(node: Any, value: Any, text: Callable[[Any], str]) -> str:
    """Return a node as `Node.format_node` does, with the text of a value."""
    head = f"%{node.name}" if value is None else f"%{node.name} : {text(value)}"
    if node.op == "output":
        return f"return {argument_text(node.args[0]) if node.args else ''}"
    if node.op in ("placeholder", "get_attr"):
        return f"{head} = {node.op}[target={node.target}]"
    return f"{head} = {node.op}[target={target_text(node.target)}]({arguments_text(node)})"


def operation_text(node: Any) -> str:
    """Return `torch.add(x, 1)` for a node (`torch.fx.Node`, 1.8)."""
    if node.op == "get_attr":
        return str(node.target)
    arguments = [each.name if type(each) is torch.fx.Node else argument_text(each, "") for each in node.args]
    if node.kwargs:
        arguments += [f"{name}={argument_text(each, '')}" for name, each in node.kwargs.items()]
    return f"{target_text(node.target)}({', '.join(arguments)})"


def target_text(target: Any) -> str:
    """Return the text that FX writes for the function or method of a node."""
    if isinstance(target, str):
        return target
    if issubclass(type(target), OPERATORS):
        return f"torch.ops.{target}"  # its module is torch._ops
    name = getattr(target, "__name__", None) or type(target).__name__
    module = getattr(target, "__module__", None) or ""
    module = {"_operator": "operator", "builtins": ""}.get(module, module)
    return f"{module}.{name}" if module else str(name)


def arguments_text(node: Any) -> str:
    """Return the arguments of a node as `args = (%x, 1), kwargs = {dim: 0}`."""
    text = f"args = {argument_text(node.args)}"
    if node.kwargs:
        text += f", kwargs = {argument_text(node.kwargs)}"
    return text


def argument_text(argument: Any, sigil: str = "%") -> str:
    """Return the text of an argument, a node's is `%name`; never call a user's `__repr__`."""
    kind = type(argument)
    if kind is torch.fx.Node:
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
    """Return `file:line` of a node's user code (`node.meta["stack_trace"]`, 1.13), or None."""
    place = user_place(node)
    return f"{place[0]}:{place[1]}" if place is not None else None


def user_place(node: Any) -> tuple[str, int] | None:
    """Return file and line of the innermost frame in `node.meta["stack_trace"]` (1.13), or None."""
    found = innermost_frame(node.meta.get("stack_trace"))
    return found and found[:2]


def innermost_frame(stack: str | None) -> tuple[str, int, str] | None:
    """Return file, line and the rest (function, newline, code) of a stack text's last frame."""
    start = stack.rfind('File "') if stack else -1
    if stack is None or start < 0:
        return None
    file, _, rest = stack[start + 6 :].partition('", line ')
    number, _, rest = rest.partition(", in ")
    return (file, int(number), rest) if number.isdecimal() else None


def graph_size(graph_module: Any) -> int:
    """Count operations in `torch.fx.GraphModule.graph` (1.8), not inputs, attributes and output."""
    return sum(node.op not in ("placeholder", "output", "get_attr") for node in graph_module.graph.nodes)


_AUTOGRAD_OPS = "torch._dynamo.compiled_autograd.ops"
"""The module of a captured backward's functions: their bare names (`MmBackward0`) are those of autograd nodes."""


def names_of(node: Any) -> tuple[str, ...]:
    """Return every name of the node's target, the fullest first.

    `torch.ops.aten.mm.default`, `torch.ops.aten.mm`, `aten.mm.default`, `aten.mm`, `mm` for an operator's overload;
    `torch.add`, `operator.add`, `add` for functions, under the module they live in and the one they are called by; a
    method's bare name; a submodule's or an attribute's path.
    """
    target = node.target
    if isinstance(target, str):
        return (target,)
    if isinstance(target, torch._ops.OpOverload):
        packet = str(target.overloadpacket)
        return (f"torch.ops.{target}", f"torch.ops.{packet}", str(target), packet, packet.rpartition(".")[2])
    if isinstance(target, torch._ops.OpOverloadPacket):
        return (f"torch.ops.{target}", str(target), str(target).rpartition(".")[2])
    names = [target_text(target)]
    if isinstance(target, torch._ops.HigherOrderOperator):
        names += [f"torch.ops.higher_order.{target.name()}", str(target.name())]
    name = getattr(target, "__name__", None)
    if isinstance(name, str) and getattr(target, "__module__", None) != _AUTOGRAD_OPS:
        names += [f"{place}.{name}" for place, owner in _public_places() if owner.get(name) is target]
        names.append(name)
    return tuple(dict.fromkeys(names))


def _public_places() -> Iterator[tuple[str, dict[str, Any]]]:
    yield "torch", vars(torch)
    yield "torch.nn.functional", vars(torch.nn.functional)
    yield "torch.Tensor", vars(torch.Tensor)
    yield "operator", vars(operator)


def is_torch_name(name: str) -> bool:
    """Whether torch or `operator` has a function or method of this bare name, as a node may."""
    return any(callable(owner.get(name)) for _, owner in _public_places()) or hasattr(torch.Tensor, name)


def operator_exists(name: str) -> bool:
    """Whether `aten.mm` or `aten.mm.out` is registered; `name` is without `torch.ops.`."""
    namespace, _, rest = name.partition(".")
    found = getattr(torch.ops, namespace, None)
    for part in rest.split("."):
        found = getattr(found, part, None)
    return found is not None
