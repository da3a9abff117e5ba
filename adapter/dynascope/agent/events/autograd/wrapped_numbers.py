"""Numbers of Python that a captured backward gets as tensors: `wrapped numbers` (`TensorImpl::is_wrapped_number`, 1.0).

The divisor of `x / 7` is saved as one. Inductor reads a scalar of the CPU with `.item()` where it launches a Triton
kernel. In the first run that happens inside a dispatch mode (`_AnalyzeCustomOpInputOutputMode`, 2.10), which is given
the number in place of the tensor: "Unable to cast 7 to Tensor". A copy of a wrapped number is an ordinary tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

_NARROWER = {
    torch.float64: torch.zeros((), dtype=torch.float32, device="cpu"),
    torch.int64: torch.zeros((), dtype=torch.int32, device="cpu"),
    torch.complex128: torch.zeros((), dtype=torch.complex64, device="cpu"),
}


def copying_wrapped_numbers(compiled: Callable[..., Any]) -> Callable[..., Any]:
    """Copy wrapped numbers for what `torch.compile` made (`OptimizedModule`, 2.0).

    What another compiler made is returned as it is: without Inductor the numbers do no harm.
    """
    if not isinstance(compiled, torch._dynamo.eval_frame.OptimizedModule):
        return compiled

    def run(inputs: list[Any], *more: Any) -> Any:
        scalars = [position for position, tensor in enumerate(inputs) if _is_scalar_of_cpu(tensor)]
        if scalars:
            with _disable_current_modes(), torch._C.DisableTorchFunction():
                for position in scalars:
                    if is_wrapped_number(inputs[position]):
                        inputs[position] = inputs[position].clone()
        return compiled(inputs, *more)

    return run


def _is_scalar_of_cpu(tensor: Any) -> bool:
    return isinstance(tensor, torch.Tensor) and tensor.dim() == 0 and tensor.device.type == "cpu"


def is_wrapped_number(scalar: torch.Tensor) -> bool:
    """Whether a scalar is a number of Python: those do not widen the dtype of an ordinary one."""
    narrower = _NARROWER.get(scalar.dtype)
    return narrower is not None and torch.result_type(scalar, narrower) is narrower.dtype
