"""torch.cond, vmap, checkpoint, custom autograd functions and operators."""

import torch
from torch.utils.checkpoint import checkpoint


class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g


@torch.library.custom_op("foreign::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    print("runs on real values", x.sum().item())
    return x * 2


@twice.register_fake
def _(x):
    return torch.empty_like(x)


def block(x):
    return x.sin() * 2


@torch.compile(backend="eager", fullgraph=True)
def f(x):
    x = torch.cond(x.sum() > 0, lambda t: t + 1, lambda t: t - 1, (x,))
    x = torch.vmap(lambda row: row * row.sum())(x)
    x = checkpoint(block, x, use_reentrant=False)
    x = Round.apply(x)
    x = twice(x)
    x = torch.where(x > 0, x, -x)
    x[x > 3] = 0
    x = x.masked_fill(x.isnan(), 0)
    return x


if __name__ == "__main__":
    f(torch.randn(3, 3))
