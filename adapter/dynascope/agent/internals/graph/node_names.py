"""List the names of the targets of FX nodes."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import torch

from dynascope.agent.internals.graph.graph import target_text
from dynascope.agent.internals.sources import source_text

OPS = ("call_function", "call_method", "call_module", "get_attr", "placeholder", "output")
"""The values of `torch.fx.Node.op`."""


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


def source_of_input(node: Any) -> str | None:
    """Return a placeholder's source (`node.meta["grapharg"].source`, 2.0), or None."""
    argument = node.meta.get("grapharg") if node.op == "placeholder" else None
    return source_text(getattr(argument, "source", None))


def inputs_of(node: Any) -> list[Any]:
    """Return the nodes among its arguments (`torch.fx.Node.all_input_nodes`)."""
    inputs: list[Any] = node.all_input_nodes
    return inputs
