"""A function of its own clips gradients as they pass."""

import torch
from torch import nn


class Clipped(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: torch.Tensor, limit: float) -> torch.Tensor:
        ctx.limit = limit
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        norm = gradient.norm().item()
        if norm > ctx.limit:
            gradient = gradient * (ctx.limit / norm)
        return gradient, None


torch.manual_seed(0)
model = nn.Linear(3, 4)


@torch.compile
def loss_of(x: torch.Tensor, limit: float) -> torch.Tensor:
    return Clipped.apply(torch.tanh(model(x)), limit).pow(2).sum()


for _ in range(3):
    loss = loss_of(torch.randn(6, 3), 0.05)
    loss.backward()
    print(round(loss.item(), 4), round(model.weight.grad.abs().sum().item(), 4))
    model.zero_grad()
# breaks: 15
# compiles: 3
# remedy: 15 -> norm = gradient.norm() && 16 -> gradient = torch.where(norm > ctx.limit, gradient * (ctx.limit / norm), gradient) && -17 -> breaks none
