"""The usual stack of layers, each of which reads a value, with statistics behind the loop."""

import torch
from torch import nn


class Gated(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)

    def forward(self, x):
        h = self.lin(x)
        peak = h.abs().max().item()  # breaks
        return h / (peak + 1e-6)


class Stack(nn.Module):
    def __init__(self, width=8, depth=2):
        super().__init__()
        self.layers = nn.ModuleList([Gated(width) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        x = self.norm(x)
        if x.mean() > 5:
            x = x - 5
        print("out", x.shape)
        return x


if __name__ == "__main__":
    stack = Stack()
    torch.compile(stack, backend="eager", dynamic=True)(torch.randn(2, 8))
