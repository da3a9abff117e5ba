"""A function of its own rounds weights to a grid whose step is their largest absolute value."""

import torch
from torch import nn


class Rounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: torch.Tensor, bits: int) -> torch.Tensor:
        largest = x.abs().max().item()
        step = max(largest, 1e-8) / (2 ** (bits - 1) - 1)
        ctx.save_for_backward(x)
        return torch.round(x / step) * step

    @staticmethod
    def backward(ctx, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        (x,) = ctx.saved_tensors
        return gradient * (x.abs() < 1.0), None


torch.manual_seed(0)
layer = nn.Linear(8, 6)


@torch.compile
def loss_of(x: torch.Tensor, bits: int) -> torch.Tensor:
    return nn.functional.linear(x, Rounded.apply(layer.weight, bits), layer.bias).pow(2).mean()


for _ in range(3):
    loss = loss_of(torch.randn(5, 8), 4)
    loss.backward()
    print(round(loss.item(), 4), round(layer.weight.grad.abs().sum().item(), 4))
    layer.zero_grad()
# breaks: 10
# compiles: 4
# remedy: 10 -> largest = x.abs().max() && 11 -> step = largest.clamp(min=1e-8) / (2 ** (bits - 1) - 1) -> breaks none
