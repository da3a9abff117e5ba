import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim=8, max_len=16):
        super().__init__()
        inv = 1.0 / (10000 ** (torch.arange(0, dim, 2).float() / dim))
        self.register_buffer("inv_freq", inv, persistent=False)
        self.max_len = max_len
        self._build(max_len)

    def _build(self, n):
        t = torch.arange(n).float()
        freqs = torch.outer(t, self.inv_freq)
        self.register_buffer("cos", freqs.cos(), persistent=False)
        self.register_buffer("sin", freqs.sin(), persistent=False)

    def forward(self, x, positions):
        cos, sin = self.cos[positions], self.sin[positions]
        x1, x2 = x[..., ::2], x[..., 1::2]
        return torch.cat([x1 * cos - x2 * sin, x1 * sin + x2 * cos], dim=-1)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rotary = Rotary()
        self.out = nn.Linear(8, 8)

    def forward(self, x, start_pos):
        positions = torch.arange(x.shape[1]) + start_pos
        if positions.max() >= self.rotary.max_len:  # breaks
            raise ValueError("sequence too long")
        return self.out(self.rotary(x, positions))


model = torch.compile(Model(), backend="eager")
model(torch.randn(1, 4, 8), torch.tensor(2))
