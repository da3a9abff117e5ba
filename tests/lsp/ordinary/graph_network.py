import torch
from torch import nn


class Conv(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.lin = nn.Linear(d_in, d_out)

    def forward(self, x, edges):
        src, dst = edges
        n = int(edges.max()) + 1  # breaks
        deg = torch.zeros(n).index_add_(0, dst, torch.ones(dst.shape[0]))
        out = torch.zeros(n, x.shape[1]).index_add_(0, dst, x[src])
        return self.lin(out / deg.clamp(min=1)[:, None])


class Graph(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([Conv(4, 8), Conv(8, 2)])

    def forward(self, x, edges):
        for conv in self.convs:
            x = conv(x, edges).relu()
        isolated = (x.sum(-1) == 0).nonzero()
        return x, isolated


gnn = torch.compile(Graph(), backend="eager")
with torch.no_grad():
    gnn(torch.randn(4, 4), torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]]))
