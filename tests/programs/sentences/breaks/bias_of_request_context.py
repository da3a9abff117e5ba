"""Attention with a bias whose slope is looked up in a context variable by a helper."""

import contextvars

import torch
from torch import nn

slope = contextvars.ContextVar("slope", default=0.5)
served: contextvars.ContextVar[int] = contextvars.ContextVar("served", default=0)


def bias_of(positions: torch.Tensor, power: float) -> torch.Tensor:
    served.set(served.get() + 1)
    distance = (positions[None, :] - positions[:, None]).abs().float()
    return -(distance**power) * slope.get()


class Alibi(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.query = nn.Linear(width, width)

    def forward(self, hidden: torch.Tensor, positions: torch.Tensor, power: float) -> torch.Tensor:
        scores = self.query(hidden) @ hidden.T
        return (scores + bias_of(positions, power)).softmax(-1)


torch.manual_seed(0)
model = torch.compile(Alibi(4))
with torch.no_grad():
    for length, power in ((3, 1.0), (3, 2.0), (5, 0.5)):
        weights = model(torch.randn(length, 4), torch.arange(length), power)
        print(length, power, round(weights.diagonal().sum().item(), 5))
# breaks: 13 15
# compiles: 14
# remedy: -13 && 15 -> return -(distance**power) * 0.5 -> breaks none
# remedy: +12 -> @torch._dynamo.nonstrict_trace -> breaks none
# remedy: +12 -> @torch._dynamo.allow_in_graph -> breaks none
# remedy: +12 -> @torch.compiler.disable -> breaks 25
