"""Read the collectives that operations on DTensors imply: they change how a tensor is laid out on a mesh."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

from dynascope.agent.internals.graph.graph import example_of, input_nodes

_EXPLICIT = ("redistribute", "full_tensor")
_MAKES = re.compile(r"^new_|_like$")
_GENERATED = re.compile(r"prim_(\w+)|(\w+)_fn_with_prim_types")
"""The functions that Dynamo makes of DTensor's methods before torch 2.12."""


class Redistribution(NamedTuple):
    """A change of the placement of a DTensor along one dimension of its mesh."""

    operation: str
    """`redistribute(Partial(sum) -> Replicate())`."""
    group: str
    """The name of the process group of that dimension."""
    tensor: Any
    """The DTensor: its sizes are those of all ranks together, of which each may have another part."""


def redistributions_of(node: Any) -> Iterator[Redistribution]:
    """Yield the changes for which a node of a graph needs the other ranks.

    An operation on Partial or Shard that gives Replicate reduces or gathers first (`torch.distributed.tensor`, 2.5),
    but for one that only asks its argument for a size: `new_zeros`, `ones_like`.
    """
    tensors: Any = sys.modules.get("torch.distributed.tensor")
    kind = getattr(tensors, "DTensor", None)  # not there yet while another thread imports it
    if kind is None or not node.op.startswith("call_") or isinstance(node.target, torch._ops.HigherOrderOperator):
        return
    taken = [each for each in map(example_of, input_nodes(node)) if isinstance(each, kind)]
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
    name, made = _GENERATED.sub(r"\1\2", name), example_of(node)
    is_result = isinstance(made, kind)
    if not taken or not (is_result or name == "full_tensor") or _MAKES.search(name):
        return
    for number in range(taken[0].device_mesh.ndim):
        after = (made.placements[number : number + 1] or (None,))[0] if is_result else tensors.Replicate()
        for each in taken:
            before = each.placements[number] if number < len(each.placements) else after
            if after is not None and _needs_others(before, after, name in _EXPLICIT):
                yield Redistribution(f"{name}({before!r} -> {after!r})", _group(each, number), each)
                break


def _needs_others(before: Any, after: Any, is_explicit: bool) -> bool:
    if before.is_replicate():
        return False
    if is_explicit:
        return bool(before != after)
    return bool(after.is_replicate() or (before.is_partial() and after.is_shard()))


def _group(tensor: Any, dimension: int) -> str:
    """Return the name of the group of a dimension of the mesh (`DeviceMesh.get_group`, 2.2)."""
    mesh = tensor.device_mesh  # from 2.13 on a wrapper of it, where Dynamo takes it as an input of the graph
    return str(getattr(mesh, "real_obj", mesh).get_group(dimension).group_name)
