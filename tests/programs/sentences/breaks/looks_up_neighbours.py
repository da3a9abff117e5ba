"""Retrieval in the middle of a model: an index outside of torch is asked with what was computed so far."""

import bisect

import torch
from torch import nn


class Index:
    """Stand for a store of another process: it answers with the key that is next to the one asked for."""

    def __init__(self, keys: list[float]) -> None:
        self.keys, self.asked = sorted(keys), 0

    @torch.compiler.disable(reason="the store is not torch's")
    def nearest(self, query: torch.Tensor) -> torch.Tensor:
        self.asked += 1
        found = [bisect.bisect_left(self.keys, value) for value in query.tolist()]
        return torch.tensor([self.keys[min(place, len(self.keys) - 1)] for place in found])


class Retriever(nn.Module):
    def __init__(self, index: Index, width: int) -> None:
        super().__init__()
        self.index, self.query, self.out = index, nn.Linear(width, 1), nn.Linear(width, 1)

    def forward(self, hidden: torch.Tensor, weight: float) -> torch.Tensor:
        query = self.query(hidden).squeeze(-1)
        neighbour = self.index.nearest(query)
        return self.out(hidden).squeeze(-1) + weight * neighbour


torch.manual_seed(0)
index = Index([-1.0, -0.5, 0.0, 0.5, 1.0])
model = torch.compile(Retriever(index, 3))
with torch.no_grad():
    for rows, weight in ((2, 1.0), (2, 0.5), (4, 0.5)):
        print(rows, weight, round(model(torch.randn(rows, 3), weight).sum().item(), 4), index.asked)
# breaks: 29
# compiles: 5
# best: none
