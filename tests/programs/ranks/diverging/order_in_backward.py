"""The backward of an autograd function averages two gradients of one size; a setting tells which comes first."""

import torch
from job import compiled, end, start, total

rank, world = start()


class Settings:
    def __init__(self, name):
        self.overlaps = name.startswith("fast")


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, up, down, overlaps):
        ctx.save_for_backward(x, up, down)
        ctx.overlaps = overlaps
        return (x @ up.t()) @ down

    @staticmethod
    def backward(ctx, gradient):
        x, up, down = ctx.saved_tensors
        inner = gradient @ down.t()
        of_up, of_down = inner.t() @ x, (x @ up.t()).t() @ gradient
        if ctx.overlaps:  # PARTS overlaps is
            of_down = total(of_down)
            of_up = total(of_up)
        else:
            of_up = total(of_up)
            of_down = total(of_down)
        return inner @ up, of_up, of_down, None


settings = Settings("fast link" if rank == 0 else "slow link")
up, down = (torch.nn.Parameter(torch.full((3, 6), 0.1 * scale)) for scale in (1, 2))


@compiled
def step(x):
    return Product.apply(x, up, down, settings.overlaps).square().mean()


for _ in range(3):
    step(torch.ones(4, 6)).backward()
end([round(each.grad.sum().item(), 3) for each in (up, down)])
