"""Read the calls of functional collectives, by which DTensors communicate too, where no graph calls them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from dynascope.agent.internals.process_groups import group_of
from dynascope.agent.internals.symbolic_shapes.fake_tensors import dtype_text, is_tensor
from dynascope.facts.comparison.called import Splits

_OPERATORS = "torch._ops"
_CALLERS = "torch.distributed."
_OPERATIONS = {
    "all_gather_into_tensor": "all_gather",
    "reduce_scatter_tensor": "reduce_scatter",
    "all_to_all_single": "all_to_all",
    "shard_dim_alltoall": "all_to_all",
}
_WITH_SETTING = ("all_reduce", "reduce_scatter", "broadcast")
"""The operations whose second argument all ranks have to pass alike: `sum`, or the number of the root."""


class FunctionalCall(NamedTuple):
    """A functional collective that begins."""

    group: Any
    """The process group."""
    device: torch.device
    operation: str
    """`all_reduce(sum)`, as the method of `ProcessGroup` is told."""
    takes: str
    splits: Splits


def functional_call(operator: str, arguments: Sequence[Any]) -> FunctionalCall | None:
    """Return the collective that an operator begins.

    None where a graph calls it, and where it is traced. The operators are those of `torch.ops._c10d_functional` (2.1)
    and `_dtensor` (2.4).
    """
    if len(arguments) < 2 or not _is_called_by_torch():
        return None
    group = group_of(arguments[-1])
    tensors = arguments[0] if type(arguments[0]) is list else [arguments[0]]
    if group is None or not tensors or not all(map(_is_real, tensors)):
        return None
    operator = operator.removesuffix("_coalesced")
    operation = _OPERATIONS.get(operator, operator)
    setting = f"({arguments[1]})" if operation in _WITH_SETTING else ""
    dtype = dtype_text(tensors[0].dtype)
    with torch._C.DisableTorchFunction():  # no mode of the program may see it
        takes = f"{dtype}[{sum(each.numel() for each in tensors)}]"
    if operation == "all_to_all":
        takes = f"{dtype} tensors"
    splits = _splits(arguments) if operator == "all_to_all_single" else ((), ())
    return FunctionalCall(group, tensors[0].device, f"{operation}{setting}", takes, splits)


def _splits(arguments: Sequence[Any]) -> Splits:
    """Return the input and the output split sizes."""
    taken, sent = (tuple(each) if type(each) is list else () for each in arguments[1:3])
    return sent, taken


def _is_called_by_torch() -> bool:
    """Whether `torch.distributed` calls the operator, not a graph."""
    frame = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__") != _OPERATORS:
        frame = frame.f_back  # type: ignore[assignment]
    caller = frame.f_back if frame is not None else None
    name = caller.f_globals.get("__name__") if caller is not None else None
    return type(name) is str and name.startswith(_CALLERS)


def _is_real(value: Any) -> bool:
    """Whether it is a tensor that no tracer has made."""
    kind = type(value)
    return is_tensor(value) and (kind in (torch.Tensor, torch.nn.Parameter) or kind.__name__ == "AsyncCollectiveTensor")
