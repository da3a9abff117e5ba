from typing import Optional

import torch
import torch.nn as nn
from torch import Tensor


def maybe_num_nodes(index: Tensor, num_nodes: Optional[int] = None) -> int:
    if num_nodes is not None:
        return num_nodes
    return int(index.max()) + 1 if index.numel() > 0 else 0  # breaks


def scatter_sum(src: Tensor, index: Tensor, dim_size: Optional[int] = None) -> Tensor:
    n = maybe_num_nodes(index, dim_size)
    out = src.new_zeros((n,) + src.shape[1:])
    return out.index_add(0, index, src)


def remove_self_loops(edge_index: Tensor) -> Tensor:
    keep = edge_index[0] != edge_index[1]
    return edge_index[:, keep]  # breaks


class MessagePassing(nn.Module):
    aggr = "sum"

    def propagate(self, edge_index, x):
        src, dst = edge_index
        msg = self.message(x[src], x[dst])
        out = scatter_sum(msg, dst, x.size(0))
        return self.update(out, x)

    def message(self, x_j, x_i):
        return x_j

    def update(self, aggr_out, x):
        return aggr_out


class SAGEConv(MessagePassing):
    def __init__(self, cin, cout):
        super().__init__()
        self.l = nn.Linear(cin, cout)
        self.r = nn.Linear(cin, cout)

    def forward(self, x, edge_index):
        return self.propagate(edge_index, x)

    def update(self, aggr_out, x):
        return self.l(aggr_out) + self.r(x)


class GraphNet(nn.Module):
    def __init__(self, hidden=8):
        super().__init__()
        self.convs = nn.ModuleList([SAGEConv(4, hidden), SAGEConv(hidden, hidden)])
        self.readout = nn.Linear(hidden, 1)

    def forward(self, x, edge_index, batch):
        edge_index = remove_self_loops(edge_index)
        for conv in self.convs:
            x = conv(x, edge_index).relu()
        g = scatter_sum(x, batch)
        counts = torch.bincount(batch)  # breaks
        g = g / counts.unsqueeze(-1).clamp(min=1)
        return self.readout(g)


def main():
    torch.manual_seed(0)
    net = torch.compile(GraphNet(), backend="eager", dynamic=True)
    opt = torch.optim.SGD(net.parameters(), 0.01)
    for _ in range(2):
        x = torch.randn(10, 4)
        ei = torch.randint(0, 10, (2, 30))
        batch = torch.tensor([0] * 4 + [1] * 6)
        loss = net(x, ei, batch).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(f"loss {loss.item():.3f}")


main()
