import torch
import torch.nn as nn


def scatter_add(src, index, dim_size=None):
    if dim_size is None:
        dim_size = int(index.max()) + 1  # breaks
    out = src.new_zeros(dim_size, src.size(1))
    return out.index_add(0, index, src)


def degree(index, n):
    return torch.zeros(n).index_add(0, index, torch.ones(index.numel()))


def remove_self_loops(edge_index):
    mask = edge_index[0] != edge_index[1]
    return edge_index[:, mask]  # breaks


def add_self_loops(edge_index, n):
    loop = torch.arange(n).repeat(2, 1)
    return torch.cat([edge_index, loop], dim=1)


class GCNConv(nn.Module):
    def __init__(self, in_ch, out_ch):
        super().__init__()
        self.lin = nn.Linear(in_ch, out_ch)

    def norm(self, edge_index, n):
        row, col = edge_index
        deg = degree(col, n).clamp(min=1)
        dinv = deg.pow(-0.5)
        return dinv[row] * dinv[col]

    def propagate(self, x, edge_index, w):
        row, col = edge_index[0], edge_index[1]
        msg = x[row] * w.unsqueeze(-1)
        return scatter_add(msg, col, x.size(0))

    def forward(self, x, edge_index):
        n = x.size(0)
        edge_index = remove_self_loops(edge_index)
        edge_index = add_self_loops(edge_index, n)
        w = self.norm(edge_index, n)
        return self.propagate(self.lin(x), edge_index, w)


class GCN(nn.Module):
    def __init__(self, dims):
        super().__init__()
        self.convs = nn.ModuleList()
        for i, o in zip(dims[:-1], dims[1:]):
            self.convs.append(GCNConv(i, o))

    def forward(self, x, edge_index, batch):
        for i, conv in enumerate(self.convs):
            x = conv(x, edge_index)
            if i < len(self.convs) - 1:
                x = x.relu()
        return self.readout(x, batch)

    def readout(self, x, batch):
        pooled = scatter_add(x, batch)
        return pooled.log_softmax(-1)


net = torch.compile(GCN([5, 8, 3]), backend="eager")
x = torch.randn(6, 5)
ei = torch.tensor([[0, 1, 2, 3, 4, 5, 2], [1, 2, 2, 4, 5, 3, 0]])
batch = torch.tensor([0, 0, 0, 1, 1, 1])
out = net(x, ei, batch)
out.sum().backward()
print(out.shape)
