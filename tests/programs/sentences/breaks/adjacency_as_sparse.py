"""A graph convolution over an adjacency matrix that is made sparse in the forward."""

import torch
from torch import nn


class Convolution(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, nodes: torch.Tensor, edges: torch.Tensor, self_loops: bool) -> torch.Tensor:
        count = nodes.shape[0]
        weights = torch.ones(edges.shape[1])
        adjacency = torch.sparse_coo_tensor(edges, weights, (count, count))
        mixed = torch.sparse.mm(adjacency, self.linear(nodes))
        return (mixed + nodes if self_loops else mixed).relu()


torch.manual_seed(0)
model = torch.compile(Convolution(3), backend="aot_eager")
with torch.no_grad():
    for self_loops, edges in ((True, [[0, 1], [1, 2]]), (False, [[0, 2], [1, 0]]), (True, [[2, 2], [0, 1]])):
        print(self_loops, round(model(torch.randn(3, 3), torch.tensor(edges), self_loops).sum().item(), 4))
# breaks: 15 16
# compiles: 1
# remedy: -15 && 16 -> mixed = torch.zeros_like(nodes).index_add(0, edges[0], self.linear(nodes)[edges[1]]) -> breaks none
