"""A mixture of experts as in many repositories."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Expert(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w1, self.w2 = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)))


class SparseMoE(nn.Module):
    def __init__(self, d=8, n=3, top_k=1):
        super().__init__()
        self.gate = nn.Linear(d, n, bias=False)
        self.experts = nn.ModuleList([Expert(d) for _ in range(n)])
        self.top_k = top_k

    def forward(self, hidden: torch.Tensor):
        flat = hidden.view(-1, hidden.shape[-1])
        probs = F.softmax(self.gate(flat), dim=-1)
        weights, chosen = torch.topk(probs, self.top_k, dim=-1)
        out = torch.zeros_like(flat)
        mask = F.one_hot(chosen, num_classes=len(self.experts)).permute(2, 1, 0)
        for i, expert in enumerate(self.experts):
            idx, top = torch.where(mask[i])  # breaks
            if top.shape[0] == 0:
                continue
            current = expert(flat[top]) * weights[top, idx, None]
            out.index_add_(0, top, current)
        return out.reshape(hidden.shape), probs


if __name__ == "__main__":
    torch.compile(SparseMoE(), backend="eager")(torch.randn(2, 3, 8))
