import torch
from torch import nn

from .stats import Meter, summary


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.meter = Meter()

    def forward(self, x, mask=None):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = q @ k.transpose(-1, -2)
        if mask is not None and mask.all():
            scores = scores.masked_fill(mask, float("-inf"))
        weights = scores.softmax(-1)
        self.meter.update(weights)
        if self.meter.mean() > 3:
            weights = weights * 2
        return weights @ v


class Pool(nn.Module):
    def forward(self, x):
        valid = x.abs().sum(-1) > 0
        return x[valid].mean(0), summary(x)  # breaks
