"""Numbers of Python in a captured backward: what `torch.compile` makes of it reads them with `.item()` on a GPU."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from dynascope import compiled_autograd
from dynascope.agent.events.autograd.compiler_switch import is_wrapped_number
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd
from torch.utils._python_dispatch import TorchDispatchMode

pytestmark = pytest.mark.second_leg

NUMBERS = [7, 0.5, 2j]


def divided(divisor: Any) -> torch.Tensor:
    """Return the gradient of a division, whose backward divides by the same again."""
    dtype = torch.complex64 if isinstance(divisor, complex) else torch.float32
    leaf = torch.ones(3, dtype=dtype, requires_grad=True)
    (leaf / divisor).abs().sum().backward()
    assert leaf.grad is not None
    return leaf.grad


def reads_scalars(graph: Any, inputs: Any) -> Any:
    """A compiler whose code reads scalars of the CPU, as inductor's does before it launches a kernel of Triton."""

    def run(*args: Any) -> Any:
        for each in args:
            if isinstance(each, torch.Tensor) and each.dim() == 0:
                each.item()
        return graph(*args)

    return make_boxed_func(run)


@pytest.mark.parametrize("divisor", NUMBERS)
def test_a_backend_can_read_them_in_its_first_run(divisor: Any):
    expected = divided(divisor)
    with compiled_autograd.enable(torch.compile(backend=aot_autograd(fw_compiler=reads_scalars))) as runs:
        assert torch.equal(divided(divisor), expected)
    assert runs[0].captured and runs[0].error is None


def test_what_is_not_compiled_is_given_the_numbers():
    given: list[bool] = []

    def keep(graph: Any) -> Any:
        def run(inputs: list[Any], *more: Any) -> Any:
            given.extend(is_wrapped_number(each) for each in inputs if each.dim() == 0)
            return graph(inputs, *more)

        return run

    with compiled_autograd.enable(keep):
        divided(7)
    assert True in given


def test_modes_of_the_program_see_no_operator_more():
    class Mode(TorchDispatchMode):
        def __init__(self) -> None:
            super().__init__()
            self.called: list[str] = []

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.called.append(str(func))
            return func(*args, **(kwargs or {}))

    def operators(divisor: Any) -> list[str]:
        leaf = torch.ones(3, requires_grad=True)
        loss = (leaf / divisor).sum()
        with compiled_autograd.enable(torch.compile(backend="eager")), Mode() as mode:
            loss.backward()
        assert leaf.grad is not None and leaf.grad.tolist() == [0.5] * 3
        return mode.called

    assert operators(2) == operators(torch.tensor(2.0))


def test_a_scalar_that_is_written_to_stays_the_same_tensor():
    leaf = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
    with compiled_autograd.enable(torch.compile(backend="eager")):
        (leaf * 2).backward()
        kept = leaf.grad
        assert kept is not None
        (leaf * 2).backward()
    assert leaf.grad is kept and kept.item() == 4.0


def test_which_scalars_are_numbers():
    saved = (torch.ones(3, requires_grad=True) / 7.5).grad_fn._saved_other  # type: ignore[union-attr]
    assert is_wrapped_number(saved)
    assert not is_wrapped_number(saved.clone())
    for dtype in (torch.float64, torch.float32, torch.int64, torch.bool):
        assert not is_wrapped_number(torch.zeros((), dtype=dtype))
