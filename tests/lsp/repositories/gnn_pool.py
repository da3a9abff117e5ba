from typing import NamedTuple, Optional

import torch
from torch import nn, Tensor


class Batch(NamedTuple):
    x: Tensor
    edge_index: Tensor
    batch: Tensor
    num_graphs: Optional[int] = None


def scatter(src: Tensor, index: Tensor, dim_size: Optional[int] = None, reduce: str = "sum") -> Tensor:
    if dim_size is None:
        dim_size = int(index.max()) + 1 if index.numel() > 0 else 0  # breaks
    size = (dim_size,) + tuple(src.shape[1:])
    idx = index.view(-1, *([1] * (src.dim() - 1))).expand_as(src)
    out = src.new_zeros(size).scatter_add_(0, idx, src)
    if reduce == "mean":
        count = src.new_zeros(dim_size).scatter_add_(0, index, torch.ones_like(index, dtype=src.dtype))
        out = out / count.clamp(min=1).view(-1, *([1] * (src.dim() - 1)))
    elif reduce not in ("sum", "add"):
        raise ValueError(reduce)
    return out


class MessagePassing(nn.Module):
    def __init__(self, aggr: str = "sum"):
        super().__init__()
        self.aggr = aggr

    def propagate(self, edge_index: Tensor, x: Tensor) -> Tensor:
        src, dst = edge_index[0], edge_index[1]
        msg = self.message(x[dst], x[src])
        out = scatter(msg, dst, dim_size=x.size(0), reduce=self.aggr)
        return self.update(out, x)

    def message(self, x_i, x_j):
        return x_j

    def update(self, aggr_out, x):
        return aggr_out


class EdgeConv(MessagePassing):
    def __init__(self, c_in: int, c_out: int):
        super().__init__(aggr="mean")
        self.mlp = nn.Sequential(nn.Linear(2 * c_in, c_out), nn.ReLU())

    def forward(self, x, edge_index):
        return self.propagate(edge_index, x)

    def message(self, x_i, x_j):
        return self.mlp(torch.cat([x_i, x_j - x_i], -1))


def remove_self_loops(edge_index: Tensor) -> Tensor:
    keep = edge_index[0] != edge_index[1]
    return edge_index[:, keep]  # breaks


class GNN(nn.Module):
    def __init__(self, dim: int = 8, n_layers: int = 2, n_out: int = 2):
        super().__init__()
        self.convs = nn.ModuleList(EdgeConv(dim, dim) for _ in range(n_layers))
        self.readout = nn.Linear(dim, n_out)

    def forward(self, data: Batch) -> Tensor:
        ei = remove_self_loops(data.edge_index)
        h = data.x
        for conv in self.convs:
            h = h + conv(h, ei)
        g = scatter(h, data.batch, dim_size=data.num_graphs, reduce="mean")
        return self.readout(g)


def main() -> None:
    torch.manual_seed(0)
    model = torch.compile(GNN(), backend="eager", dynamic=True)
    for n in (6, 9):
        data = Batch(torch.randn(n, 8), torch.randint(0, n, (2, 3 * n)), torch.arange(n) // 3)
        out = model(data)
        out.pow(2).sum().backward()
        print(n, out.shape)


if __name__ == "__main__":
    main()
