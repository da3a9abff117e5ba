"""Backward programs: each builds its own leaves from a fixed seed and returns a loss and the leaves it
differentiates."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.checkpoint import checkpoint

Program = Callable[[], tuple[Tensor, list[Tensor]]]
PROGRAMS: dict[str, Program] = {}


def program(function: Program) -> Program:
    PROGRAMS[function.__name__] = function
    return function


@program
def mlp() -> tuple[Tensor, list[Tensor]]:
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    return model(torch.randn(3, 4)).sum(), list(model.parameters())


@program
def attention() -> tuple[Tensor, list[Tensor]]:
    model = torch.nn.MultiheadAttention(8, 2)
    inputs = torch.randn(5, 2, 8, requires_grad=True)
    return model(inputs, inputs, inputs)[0].pow(2).mean(), [inputs, *model.parameters()]


@program
def conv_norm() -> tuple[Tensor, list[Tensor]]:
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.GELU(), torch.nn.Flatten(), torch.nn.Linear(144, 3)
    )
    return F.cross_entropy(model(torch.randn(2, 3, 8, 8)), torch.tensor([0, 2])), list(model.parameters())


@program
def shared_weights() -> tuple[Tensor, list[Tensor]]:
    layer = torch.nn.Linear(4, 4)
    return layer(layer(layer(torch.randn(3, 4))).tanh()).pow(2).sum(), list(layer.parameters())


@program
def double_backward() -> tuple[Tensor, list[Tensor]]:
    leaf = torch.randn(3, requires_grad=True)
    with torch._dynamo.compiled_autograd._disable():
        (gradient,) = torch.autograd.grad((leaf**3).sum(), leaf, create_graph=True)
    return (gradient * leaf).sum(), [leaf]


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: Tensor, factor: float) -> Tensor:
        ctx.save_for_backward(inputs)
        ctx.factor = factor
        return inputs * factor

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (inputs,) = ctx.saved_tensors
        return gradient * ctx.factor + inputs * 0, None


@program
def custom_function() -> tuple[Tensor, list[Tensor]]:
    layer = torch.nn.Linear(4, 4)
    return Scale.apply(layer(torch.randn(3, 4)), 2.0).sum(), list(layer.parameters())


@program
def tensor_hooks() -> tuple[Tensor, list[Tensor]]:
    leaf = torch.randn(3, requires_grad=True)
    middle = leaf * 3
    leaf.register_hook(lambda gradient: gradient + 1)
    middle.register_hook(doubles)
    return middle.exp().sum(), [leaf]


def doubles(gradient: Tensor) -> Tensor:
    return gradient * 2


@program
def node_hooks() -> tuple[Tensor, list[Tensor]]:
    leaf = torch.randn(3, requires_grad=True)
    loss = (leaf * 3).sin().sum()
    node = loss.grad_fn.next_functions[0][0]  # type: ignore[union-attr]
    assert node is not None
    node.register_prehook(lambda gradients: (gradients[0] * 2,))
    node.register_hook(lambda inputs, outputs: (inputs[0] + 1,))
    return loss, [leaf]


@program
def post_accumulate_grad_hooks() -> tuple[Tensor, list[Tensor]]:
    layer = torch.nn.Linear(4, 2)
    layer.weight.register_post_accumulate_grad_hook(halves_grad)
    return layer(torch.randn(3, 4)).sum(), list(layer.parameters())


def halves_grad(parameter: Tensor) -> None:
    assert parameter.grad is not None
    parameter.grad.mul_(0.5)


@program
def saved_tensor_hooks() -> tuple[Tensor, list[Tensor]]:
    leaf = torch.randn(3, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor * 1, lambda packed: packed):
        return (leaf**2).sum(), [leaf]


@program
def checkpointing() -> tuple[Tensor, list[Tensor]]:
    layer = torch.nn.Linear(4, 4)
    inputs = torch.randn(3, 4, requires_grad=True)
    result: Any = checkpoint(lambda x: layer(layer(x).relu()), inputs, use_reentrant=False)
    return result.sum(), [inputs, *layer.parameters()]


@program
def in_place() -> tuple[Tensor, list[Tensor]]:
    layer = torch.nn.Linear(4, 4)
    hidden = layer(torch.randn(3, 4)) * 1
    hidden[0].mul_(2)
    hidden.add_(1).relu_()
    return hidden.sum(), list(layer.parameters())


@program
def sparse_gradients() -> tuple[Tensor, list[Tensor]]:
    table = torch.nn.Embedding(10, 4, sparse=True)
    return table(torch.tensor([1, 2, 1])).sum(), list(table.parameters())


@program
def scalar_divisions() -> tuple[Tensor, list[Tensor]]:
    leaf = torch.randn(3, requires_grad=True)
    return ((leaf / 3.0) / torch.tensor(2.0)).sum() / 7, [leaf]


@program
def two_losses() -> tuple[Tensor, list[Tensor]]:
    layer = torch.nn.Linear(4, 4)
    inputs = torch.randn(3, 4)
    return layer(inputs).sum() + (layer(inputs) * 2).mean(), list(layer.parameters())


@program
def compiled_forward() -> tuple[Tensor, list[Tensor]]:
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    compiled: Any = torch.compile(model, backend="aot_eager")
    return compiled(torch.randn(3, 4)).sum(), list(model.parameters())


@program
def distributed_data_parallel() -> tuple[Tensor, list[Tensor]]:
    if not torch.distributed.is_initialized():
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
        store = torch.distributed.HashStore()
        torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    layer = torch.nn.Linear(4, 2)
    model = torch.nn.parallel.DistributedDataParallel(layer)
    return model(torch.randn(3, 4)).sum(), list(layer.parameters())


class ReadsScalar(torch.autograd.Function):
    """Its backward is the user's own code, and gets a CPU scalar."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, factor: Tensor) -> Tensor:
        ctx.save_for_backward(factor)
        return inputs * 2

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (factor,) = ctx.saved_tensors
        return gradient * factor, None


def divide(device: str = "cpu") -> Tensor:
    """A CPU scalar that only PyTorch's operators see, and one that the user's backward sees."""
    weight = torch.arange(1.0, 4.0, device=device, requires_grad=True)
    divided = weight / torch.tensor(2.0)
    ReadsScalar.apply(divided, torch.tensor(3.0)).sum().backward()
    assert weight.grad is not None
    return weight.grad
