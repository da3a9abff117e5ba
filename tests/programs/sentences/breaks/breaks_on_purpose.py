"""A graph break put between two halves of a model by hand, once meant to bisect a bug."""

import torch
import torch._dynamo
from torch import nn


class Halves(nn.Module):
    def __init__(self, width: int, *, split: bool) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(width, width), nn.Linear(width, 2)
        self.split = split

    def forward(self, inputs: torch.Tensor, gain: float = 1.0) -> torch.Tensor:
        hidden = self.first(inputs).relu() * gain
        if self.split:
            torch._dynamo.graph_break()
        return self.second(hidden).softmax(-1)


torch.manual_seed(0)
for split in (True, False):
    model = torch.compile(Halves(4, split=split))
    for gain in (1.0, 3.0):
        print(split, gain, round(model(torch.randn(2, 4), gain)[:, 0].sum().item(), 5))
# breaks: 17
# compiles: 4
# remedy: 17 -> pass -> breaks none
