import torch
from torch import nn


def make_mask(lengths):
    max_len = int(lengths.max())  # breaks
    return torch.arange(max_len)[None, :] < lengths[:, None]


class Pool(nn.Module):
    def __init__(self, d=4):
        super().__init__()
        self.proj = nn.Linear(d, d)

    def forward(self, x, lengths):
        mask = make_mask(lengths)
        h = self.proj(x)[:, : mask.shape[1]]
        h = h.masked_fill(~mask.unsqueeze(-1), 0.0)
        parts = h.split(lengths.tolist(), dim=1) if h.shape[0] == 1 else None
        return h.sum(1) / lengths.unsqueeze(-1), parts


pool = torch.compile(Pool(), backend="eager")
pool(torch.randn(2, 6, 4), torch.tensor([4, 2]))
