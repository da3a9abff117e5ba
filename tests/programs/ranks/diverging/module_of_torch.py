"""A `Sequential`, which torch compiles in a wrapper: one rank has a layer that adds up where the other has none."""

import torch
from job import compiled, end, start, total
from torch import nn

rank, _ = start()


class Normalized(nn.Module):
    def __init__(self, by_mean):
        super().__init__()
        self.by_mean = by_mean

    def forward(self, x):
        if self.by_mean:  # PARTS by_mean is
            x = x - total(x.mean(0, keepdim=True))
        return x


net = nn.Sequential(nn.Linear(4, 8), Normalized(rank != 1), nn.Linear(8, 2))
with torch.no_grad():
    end(compiled(net)(torch.ones(3, 4)).sum().item())
