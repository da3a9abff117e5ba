"""Magnitude pruning that replaces the weights of each layer and sets counts on the module."""

import torch
from torch import nn


class Pruned(nn.Module):
    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, hidden: torch.Tensor, limit: float) -> torch.Tensor:
        for number, layer in enumerate(self.layers):
            mask = layer.weight.abs() > limit
            layer.weight = nn.Parameter(layer.weight * mask)
            setattr(self, f"left_{number}", mask.sum())
            hidden = layer(hidden).relu()
        return hidden


torch.manual_seed(0)
net = Pruned(4, 2)
step = torch.compile(net)
for limit in (0.0, 0.1, 0.25):
    output = step(torch.rand(2, 4), limit)
    print(limit, round(output.sum().item(), 4), int(net.left_0), int(net.left_1))
# breaks: 15
# compiles: 0
# remedy: 15 -> layer.weight.data.mul_(mask) -> breaks none
