import torch
from torch import nn


class Cache(nn.Module):
    def __init__(self, length=8, d=4):
        super().__init__()
        self.register_buffer("k", torch.zeros(1, length, d))
        self.register_buffer("pos", torch.zeros((), dtype=torch.long))

    def update(self, k):
        start = self.pos.item()  # breaks
        self.k[:, start : start + k.shape[1]] = k
        self.pos += k.shape[1]
        return self.k[:, : start + k.shape[1]]


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = Cache()
        self.q, self.k_proj = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        k = self.cache.update(self.k_proj(x))
        scores = self.q(x) @ k.transpose(1, 2)
        return scores.softmax(-1) @ k


attention = torch.compile(Attention(), backend="eager")
with torch.no_grad():
    attention(torch.randn(1, 2, 4))
