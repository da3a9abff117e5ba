"""Modules made late."""

import torch
from torch import nn


class Lazy(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = None
        self.act = nn.ReLU()

    def forward(self, x):
        if self.layer is None:
            self.layer = nn.Linear(x.shape[-1], 2)  # breaks
        return self.act(self.layer(x))


@torch.compile(backend="eager")
def head(x):
    norm = nn.LayerNorm(x.shape[-1])  # breaks
    act = nn.ReLU()
    loss = nn.MSELoss()
    return loss(act(norm(x)), x)


@torch.compile(backend="eager")
def pooled(x):
    return nn.Softmax(dim=-1)(nn.Flatten()(x))


if __name__ == "__main__":
    torch.compile(Lazy(), backend="eager")(torch.ones(2, 3))
    head(torch.ones(2, 3))
    pooled(torch.ones(2, 3))
