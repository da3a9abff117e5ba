"""Read the arguments of a collective that Python code calls, and the parameters for which FSDP2 calls one."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import torch

from dynascope.agent.internals.symbolic_shapes.fake_tensors import dtype_text, is_tensor
from dynascope.facts.comparison.called import TENSORS, Splits
from dynascope.facts.comparison.plain_branch import PARAM_DTYPE, REDUCE_DTYPE, RESHARDS

_EQUAL_SIZES = re.compile(
    r"send|recv|allreduce|_?broadcast|reduce$|_?(all_?gather|reduce_scatter)_(base|single|into|tensor)"
)
"""Names of methods whose tensors are as large in all ranks begin so."""
_EVEN = ("alltoall_base", "all_to_all_single")
_OPERATIONS = {
    "allreduce": "all_reduce",
    "allgather": "all_gather",
    "all_gather": "all_gather",
    "reduce_scatter": "reduce_scatter",
    "alltoall": "all_to_all",
    "all_to_all": "all_to_all",
}
"""The beginning of a method's name, and the name of the operation in `torch.distributed`."""
_SHOWN_PARAMETERS = 2


def tensors_of(arguments: Sequence[Any]) -> list[torch.Tensor] | None:
    """Return the tensors of a call; None where reading one would run code of the program's."""
    found = [each for each in _flat(arguments) if is_tensor(each)]
    return found if all(map(_is_plain, found)) else None


def operation_of(method: str, arguments: Sequence[Any]) -> str:
    """Return what a method of `ProcessGroup` does: `all_reduce(sum)`."""
    name = method.lstrip("_")
    operation = next((told for begin, told in _OPERATIONS.items() if name.startswith(begin)), name)
    settings = _settings(arguments)
    if name == "broadcast_coalesced" and arguments and type(arguments[-1]) is int:
        settings = str(arguments[-1])  # the root
    return f"{operation}({settings})" if settings else operation


def _settings(arguments: Sequence[Any]) -> str:
    """Return the settings that all ranks have to pass alike: `sum`, or the number of the root.

    `ReduceOptions.reduceOp`, `BroadcastOptions.rootRank` (1.0), `ReduceOp.op` (1.13).
    """
    options: Any = arguments[-1] if arguments else None  # after the tensors, where torch calls it
    told = []
    operation = getattr(options, "reduceOp", None)
    if operation is not None:
        told.append(str(getattr(operation, "op", operation)).rpartition(".")[2].lower())
    root = getattr(options, "rootRank", None)
    if isinstance(root, int):
        told.append(str(root))
    return ", ".join(told)


_MOST_SETTINGS = 16
"""The maximum number of settings that are kept of the parameters of one collective."""


def splits_of(arguments: Sequence[Any]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the input and the output split sizes of an all-to-all; empty for even splits.

    `ProcessGroup.alltoall_base` (1.8) takes the latter first.
    """
    lists = [tuple(each) for each in arguments if type(each) is list and all(type(one) is int for one in each)]
    return (lists[1], lists[0]) if len(lists) == 2 else ((), ())


def taken_by(method: str, taken: Sequence[torch.Tensor], splits: Splits = ((), ())) -> str:
    """Return dtype and size of what a method takes: `f32[272]`.

    Without the size where ranks may have other sizes: `f32 tensors`. An all-to-all without `splits` has even parts.
    """
    if not taken:
        return ""
    inputs = taken[len(taken) // 2 :] if "gather" in method or "scatter" in method else taken  # after as many outputs
    size = sum(each.numel() for each in inputs)
    dtype = dtype_text(taken[0].dtype)
    if method in _EVEN and not any(splits) and len(taken) == 2:
        return f"{dtype}[{taken[1].numel()}]"
    return f"{dtype}[{size}]" if _EQUAL_SIZES.match(method) else f"{dtype} {TENSORS}"


def fsdp_settings_of(sharded: Any) -> dict[str, str]:
    """Return settings of FSDP2's parameters by name: "False" for one that needs no gradient.

    `FSDPParam.sharded_param`, `.post_forward_mesh_info`, `.param_dtype`, `.orig_dtype` and `.reduce_dtype` (2.4): of
    the first parameter it is told whether its module reshards after the forward, and in which types it communicates.
    """
    found: dict[str, str] = {}
    first = ""
    with contextlib.suppress(TypeError), torch._C.DisableTorchFunction():
        for each in sharded:
            name, parameter = getattr(each, "_param_fqn", None), getattr(each, "sharded_param", None)
            if name and isinstance(parameter, torch.nn.Parameter) and not parameter.requires_grad:
                found[name] = "False"
            if name and not first:
                first = name
                reshards = getattr(each, "post_forward_mesh_info", None) is not None
                dtype = getattr(each, "param_dtype", None) or getattr(each, "orig_dtype", None)
                reduced = getattr(each, "reduce_dtype", None) or dtype
                found |= {f"{name}.{RESHARDS}": str(reshards), f"{name}.{PARAM_DTYPE}": str(dtype)}
                found[f"{name}.{REDUCE_DTYPE}"] = str(reduced)
    return dict(islice(found.items(), _MOST_SETTINGS))


def parameters_of(sharded: Any) -> str:
    """Return the names of FSDP2's parameters: `layers.1.weight, layers.1.bias`.

    `FSDPParam._param_fqn` (2.4); "" before the first forward has given them names.
    """
    names = []
    with contextlib.suppress(TypeError):
        names = [name for each in sharded if (name := getattr(each, "_param_fqn", None))]
    more = f" and {len(names) - _SHOWN_PARAMETERS} more" if len(names) > _SHOWN_PARAMETERS else ""
    return ", ".join(names[:_SHOWN_PARAMETERS]) + more


def _flat(arguments: Sequence[Any]) -> Iterator[Any]:
    for each in arguments:
        if isinstance(each, list | tuple):
            yield from _flat(each)
        else:
            yield each


def _is_plain(value: Any) -> bool:
    kind = type(value)
    return kind is torch.Tensor or kind.__torch_function__ is torch._C._disabled_torch_function_impl
