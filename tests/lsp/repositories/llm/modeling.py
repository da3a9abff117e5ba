import torch
import torch.nn as nn
import torch.nn.functional as F


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


def rope(x, pos, base=10000.0):
    d = x.shape[-1]
    inv = base ** (-torch.arange(0, d, 2) / d)
    ang = pos[:, None] * inv
    cos, sin = ang.cos()[:, None], ang.sin()[:, None]
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.h = heads
        self.wqkv = nn.Linear(dim, 3 * dim, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)

    def forward(self, x, pos, view, seq_id):
        n, d = x.shape
        q, k, v = self.wqkv(x).view(n, 3, self.h, -1).unbind(1)
        q, k = rope(q, pos), rope(k, pos)
        k, v = view.append(seq_id, pos, k, v)
        y = F.scaled_dot_product_attention(q.transpose(0, 1), k.transpose(0, 1), v.transpose(0, 1), is_causal=n > 1)  # breaks
        return self.wo(y.transpose(0, 1).reshape(n, d))


class Layer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.n1, self.n2 = RMSNorm(dim), RMSNorm(dim)
        self.attn = Attention(dim, heads)
        self.w1, self.w2 = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x, *a):
        x = x + self.attn(self.n1(x), *a)
        return x + self.w2(F.silu(self.w1(self.n2(x))))


class LM(nn.Module):
    def __init__(self, vocab=32, dim=16, heads=2, layers=1):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList([Layer(dim, heads) for _ in range(layers)])
        self.norm = RMSNorm(dim)

    def forward(self, ids, pos, views, seq_id):
        x = self.emb(ids)
        for layer, view in zip(self.layers, views):
            x = layer(x, pos, view, seq_id)
        return self.norm(x[-1]) @ self.emb.weight.T
