from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class GraphBatch:
    x: torch.Tensor
    edge_index: torch.Tensor
    batch: torch.Tensor

    @property
    def num_graphs(self) -> int:
        return int(self.batch.max()) + 1  # breaks

    @property
    def num_nodes(self) -> int:
        return self.x.size(0)


class EdgeMLP(nn.Module):
    def __init__(self, d: int) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2 * d, d), nn.ReLU(), nn.Linear(d, d))

    def forward(self, g: GraphBatch) -> GraphBatch:
        src, dst = g.edge_index
        m = self.net(torch.cat([g.x[src], g.x[dst]], -1))
        agg = torch.zeros_like(g.x).index_add(0, dst, m)
        return GraphBatch(g.x + agg, g.edge_index, g.batch)


class TopKPool(nn.Module):
    def __init__(self, d: int, thr: float = 0.0) -> None:
        super().__init__()
        self.score = nn.Linear(d, 1)
        self.thr = thr

    def forward(self, g: GraphBatch) -> torch.Tensor:
        s = self.score(g.x).squeeze(-1)
        keep = torch.nonzero(s > self.thr, as_tuple=True)[0]  # breaks
        if keep.numel() == 0:
            warnings.warn("pool dropped all of the nodes")
            keep = torch.arange(g.num_nodes)
        x = g.x[keep] * torch.tanh(s[keep]).unsqueeze(-1)
        out = x.new_zeros(g.num_graphs, x.size(1))
        return out.index_add(0, g.batch[keep], x)


class Matcher(nn.Module):
    def __init__(self, d: int = 4) -> None:
        super().__init__()
        layer = EdgeMLP(d)
        self.layers = nn.ModuleList([copy.deepcopy(layer) for _ in range(2)])
        self.pool = TopKPool(d)

    def encode(self, g: GraphBatch) -> torch.Tensor:
        for layer in self.layers:
            g = layer(g)
        return self.pool(g)

    def forward(self, a: GraphBatch, b: GraphBatch) -> torch.Tensor:
        return torch.cosine_similarity(self.encode(a), self.encode(b), dim=-1)


def random_graphs() -> GraphBatch:
    return GraphBatch(torch.randn(6, 4), torch.randint(0, 6, (2, 9)), torch.tensor([0, 0, 0, 1, 1, 1]))


torch.manual_seed(1)
model = Matcher()
model.compile(backend="eager")
sim = model(random_graphs(), random_graphs())
sim.sum().backward()
print(sim.tolist())
