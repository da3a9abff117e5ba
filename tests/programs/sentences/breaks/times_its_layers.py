"""A model that keeps the seconds its blocks have taken."""

import time

import torch
from torch import nn


class Profiled(nn.Module):
    def __init__(self, depth: int, width: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.seconds: list[float] = []

    def forward(self, hidden: torch.Tensor, residual: float) -> torch.Tensor:
        started = time.perf_counter()
        for block in self.blocks:
            hidden = block(hidden).tanh() + residual * hidden
        self.seconds.append(time.perf_counter() - started)
        return hidden.mean(-1)


torch.manual_seed(0)
model = Profiled(depth=2, width=4)
fast = torch.compile(model)
for residual in (0.5, 1.0, 0.25):
    output = fast(torch.randn(3, 4), residual)
    print([round(value, 4) for value in output.tolist()], len(model.seconds), min(model.seconds) > 0)
# breaks: 16 19
# compiles: 7
# remedy: -16 && -19 && +27 -> started = time.perf_counter() && 27 -> output = fast(torch.randn(3, 4), residual); model.seconds.append(time.perf_counter() - started) -> breaks none
