"""Message passing with scatter, bincount and unique."""

import torch
from torch import nn


def degree(index, n):
    return torch.zeros(n).scatter_add_(0, index, torch.ones(index.shape[0]))


class Conv(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width, bias=False)
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x, edges):
        row, col = edges
        norm = degree(col, x.size(0)).pow(-0.5)
        norm[norm == float("inf")] = 0
        messages = self.lin(x)[row] * norm[row].unsqueeze(-1)
        out = torch.zeros_like(x).index_add_(0, col, messages)
        return out + self.bias


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = Conv(4)

    def forward(self, x, edges, batch):
        x = self.conv(x, edges)
        graphs = int(batch.max()) + 1  # breaks
        sizes = torch.bincount(batch)  # breaks
        kept = torch.unique(edges)  # breaks
        pooled = torch.zeros(graphs, 4).index_add_(0, batch, x)
        loops = edges[:, edges[0] == edges[1]]  # breaks
        return pooled / sizes[:, None], kept, loops


if __name__ == "__main__":
    torch.compile(Net(), backend="eager")(torch.randn(3, 4), torch.tensor([[0, 1], [1, 1]]), torch.tensor([0, 0, 1]))
