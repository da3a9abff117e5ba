"""Weight decay for parameters whose names match a shell pattern, summed in the compiled loss."""

import fnmatch

import torch
from torch import nn


class Penalized(nn.Module):
    def __init__(self, decayed: list[str]) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4))
        self.head = nn.Linear(4, 1)
        self.decayed = decayed

    def penalty(self, total: torch.Tensor) -> torch.Tensor:
        named = dict(self.named_parameters())
        for pattern in self.decayed:
            chosen = fnmatch.filter(named, pattern)
            total = total + sum(named[name].square().sum() for name in chosen)
        return total

    def forward(self, inputs: torch.Tensor, target: torch.Tensor, decay: float) -> torch.Tensor:
        error = (self.head(self.body(inputs)) - target).abs().mean()
        return error + decay * self.penalty(torch.zeros(()))


torch.manual_seed(0)
model = torch.compile(Penalized(["body.*.weight", "head.weight"]))
for decay in (0.0, 0.01, 0.1):
    print(decay, round(model(torch.randn(3, 4), torch.ones(3, 1), decay).item(), 4))
# breaks: 19
# compiles: 6
# remedy: 19 -> chosen = [name for name in named if name.startswith(pattern.split("*")[0]) and name.endswith("weight")] -> breaks none
