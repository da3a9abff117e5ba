"""Stochastic depth: each block is skipped at random, with a generator of Python's own."""

import random

import torch
from torch import nn


class StochasticDepth(nn.Module):
    def __init__(self, depth: int, keep: float, seed: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(4, 4) for _ in range(depth))
        self.keep = keep
        self.order = random.Random(seed)

    def forward(self, hidden: torch.Tensor, gain: float) -> torch.Tensor:
        chosen = self.order.sample(range(len(self.blocks)), k=2)
        for index in sorted(chosen):
            hidden = hidden + gain * self.blocks[index](hidden).relu() / self.keep
        return hidden


torch.manual_seed(0)
model = StochasticDepth(depth=3, keep=0.66, seed=1)
train = torch.compile(model)
for gain in (1.0, 0.5, 0.5, 2.0):
    print(gain, round(train(torch.randn(2, 4), gain).sum().item(), 4))
# breaks: 17 18
# compiles: 6
# remedy: 16 -> def forward(self, hidden: torch.Tensor, gain: float, chosen: list[int]) -> torch.Tensor: && -17 && 18 -> for index in chosen: && 27 -> print(gain, round(train(torch.randn(2, 4), gain, sorted(model.order.sample(range(3), k=2))).sum().item(), 4)) -> breaks none
