"""One rank evaluates without gradients before it trains: only the backward of the training averages gradients."""

import torch
from job import compiled, end, start, total

rank, world = start()


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x * weight

    @staticmethod
    def backward(ctx, gradient):
        x, weight = ctx.saved_tensors
        return gradient * weight, total((gradient * x).sum(0))


weight = torch.nn.Parameter(torch.full((6,), 0.5))


@compiled
def step(x):
    return Scaled.apply(x, weight).square().mean()


if rank == 1:
    with torch.no_grad():
        step(torch.ones(3, 6))
for _ in range(3):
    step(torch.ones(3, 6)).backward()
end(round(weight.grad.sum().item(), 3))
