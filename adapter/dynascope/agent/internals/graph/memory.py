"""Tell which tensors of a graph share memory: views, and what is changed in place."""

from __future__ import annotations

import math
from typing import Any

import torch

from dynascope.agent.internals.graph.graph import example_of
from dynascope.agent.internals.symbolic_shapes.fake_tensors import is_tensor

_COUNTED = 4096
"""The most elements of which the places are compared: views of larger tensors are taken to overlap."""


def share_memory(node: Any, other: Any) -> bool:
    """Whether the fake tensors of two nodes share elements, as far as sizes are known."""
    if node is other:
        return True
    first, second = example_of(node), example_of(other)
    with torch._C.DisableTorchFunctionSubclass():  # the program's `__torch_function__` is not to be called
        memory = _memory_of(first)
        if memory is None or memory != _memory_of(second):
            return False
        places = _places(first), _places(second)
    return places[0] is None or places[1] is None or not places[0].isdisjoint(places[1])


def _memory_of(tensor: Any) -> int | None:
    """Return the identity of a tensor's memory, which its views share; None without memory."""
    if not is_tensor(tensor) or tensor.layout is not torch.strided:
        return None
    try:
        identity: int = tensor.untyped_storage()._cdata
    except RuntimeError:  # a subclass that has no storage of its own (NotImplementedError)
        return None
    return identity


def _places(tensor: Any) -> set[int] | None:
    """Return the places of elements in memory; None where there are many, or symbols."""
    sizes, strides, offset = list(tensor.shape), list(tensor.stride()), tensor.storage_offset()
    if any(type(each) is not int for each in (*sizes, *strides, offset)):
        return None
    if math.prod(sizes) > _COUNTED:
        return None
    places = {offset}
    for size, stride in zip(sizes, strides, strict=True):
        places = {place + step * stride for place in places for step in range(size)}
    return places
