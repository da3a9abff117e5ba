"""Keep with a fake tensor the state of the program's tensor that a fake lacks."""

from __future__ import annotations

import collections
from dataclasses import dataclass
from typing import Any

import torch

from dynascope.agent.inspection.values.errors import EvaluationError
from dynascope.agent.inspection.values.stand_ins import (
    ReadOnlyDefaultDict,
    ReadOnlyDeque,
    ReadOnlyDict,
    ReadOnlyList,
    ReadOnlyOrderedDict,
    ReadOnlySet,
    StandIn,
)
from dynascope.agent.internals.symbolic_shapes.fake_tensors import is_fake

TOLD = frozenset({"__class__", "data_ptr", "grad", "grad_fn"})
"""Attributes that an expression reads with `attribute`, because a fake has its own."""

_KEPT = "_dynascope_original"
_CLASSES: dict[type, type] = {
    ReadOnlyList: list,
    ReadOnlyDict: dict,
    ReadOnlySet: set,
    ReadOnlyDeque: collections.deque,
    ReadOnlyOrderedDict: collections.OrderedDict,
    ReadOnlyDefaultDict: collections.defaultdict,
}


@dataclass(frozen=True, slots=True)
class Original:
    """The tensor that a fake represents: its class in the program and its autograd state."""

    cls: type
    tensor: torch.Tensor
    """The tensor in the trace: Dynamo's fake, or the real one that Dynamo has not seen."""
    real: torch.Tensor | None
    """The real tensor; None for a result of the graph."""
    shadow: Any


class _Computed(torch.autograd.Function):  # type: ignore[misc]
    """Mark its second argument as a result for autograd, as the program's tensor is one."""

    @staticmethod
    def forward(context: Any, leaf: Any, result: Any) -> Any:
        return result

    @staticmethod
    def backward(context: Any, gradient: Any) -> Any:
        return gradient, None


def with_autograd_state(fake: torch.Tensor, original: Original) -> torch.Tensor:
    """Give `fake` the original's `requires_grad` and `is_leaf`, and store the original in it."""
    requires_grad = original.tensor.requires_grad
    if issubclass(original.cls, torch.nn.Parameter):
        fake = torch.nn.Parameter(fake, requires_grad)
    elif requires_grad and not original.tensor.is_leaf:
        with torch.enable_grad():
            fake = _Computed.apply(torch.empty_like(fake).requires_grad_(), fake)
    elif requires_grad:
        fake.requires_grad_()
    setattr(fake, _KEPT, original)
    return fake


def class_of(value: Any) -> type:
    """Return the class, in the program, of the object that an expression's value represents."""
    kind = type(value)
    if issubclass(kind, StandIn):
        stands_for: type = value.__class__
        return stands_for
    if is_fake(value):
        original = value.__dict__.get(_KEPT)
        return original.cls if isinstance(original, Original) else torch.Tensor
    return next((_CLASSES[base] for base in kind.__mro__ if base in _CLASSES), kind)


def attribute(value: Any, name: str) -> Any:
    """Return an attribute as `getattr` does, for those in `TOLD`."""
    if name == "__class__":
        return class_of(value)
    if name == "data_ptr" and is_fake(value):
        raise EvaluationError("The address of a tensor's data is not known at compile time.")
    original = value.__dict__.get(_KEPT) if is_fake(value) else None
    if original is None:
        return getattr(value, name)
    tensor, real = original.tensor, original.real
    if name == "grad":
        return original.shadow.of_real(real.grad) if real is not None and tensor.is_leaf else None
    return None if tensor.is_leaf else (tensor if real is None else real).grad_fn
