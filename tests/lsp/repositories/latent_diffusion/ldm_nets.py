import math

import torch
import torch.nn as nn


class LatentAE:
    def __init__(self, d=16, z=4):
        self.encoder = nn.Sequential(nn.Linear(d, z), nn.Tanh())
        self.decoder = nn.Linear(z, d)
        self.scale = 0.18


def timestep_embedding(t, dim):
    half = dim // 2
    f = torch.exp(-math.log(1000) * torch.arange(half, dtype=torch.float32) / half)
    a = t.float()[:, None] * f[None]
    emb = torch.cat([a.cos(), a.sin()], -1)
    if dim % 2:
        emb = torch.cat([emb, torch.zeros_like(emb[:, :1])], -1)
    return emb


class AdaBlock(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.mod = nn.Linear(d, 3 * d)
        self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.SiLU(), nn.Linear(2 * d, d))

    def forward(self, x, c):
        shift, scale, gate = self.mod(c).chunk(3, -1)
        h = nn.functional.layer_norm(x, x.shape[-1:]) * (1 + scale) + shift
        return x + gate * self.mlp(h)


class DiT(nn.Module):
    def __init__(self, z=4, d=16, n_cls=3, depth=2, drop=0.1):
        super().__init__()
        self.inp, self.out = nn.Linear(z, d), nn.Linear(d, z)
        self.label = nn.Embedding(n_cls + 1, d)
        self.null, self.drop, self.d = n_cls, drop, d
        self.blocks = nn.ModuleList(AdaBlock(d) for _ in range(depth))

    def forward(self, z, t, y):
        if torch.is_grad_enabled() and self.drop > 0:
            y = torch.where(torch.rand(y.shape) < self.drop, self.null, y)
        c = self.label(y) + timestep_embedding(t * 1000, self.d)
        x = self.inp(z)
        for b in self.blocks:
            x = b(x, c)
        return self.out(x)
