import torch
from torch import nn


class Expert(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.up = nn.Linear(d, 2 * d)
        self.down = nn.Linear(2 * d, d)

    def forward(self, x):
        return self.down(torch.nn.functional.silu(self.up(x)))


class MoE(nn.Module):
    def __init__(self, d=8, n=4, k=2):
        super().__init__()
        self.gate = nn.Linear(d, n, bias=False)
        self.experts = nn.ModuleList(Expert(d) for _ in range(n))
        self.k = k

    def forward(self, x):
        scores = self.gate(x).softmax(dim=-1)
        weights, chosen = torch.topk(scores, self.k)
        y = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows, slot = torch.where(chosen == i)  # breaks
            if rows.numel() == 0:
                continue
            y[rows] += expert(x[rows]) * weights[rows, slot, None]
        return y


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.moe = MoE()

    def forward(self, x):
        return x + self.moe(self.norm(x))


model = Block()
model.compile(backend="eager")
model(torch.randn(6, 8))
