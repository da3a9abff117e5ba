"""Adaptive depth: halting, confidence, thresholds held in parameters."""

import torch
from torch import nn


class Halting(nn.Module):
    def __init__(self, depth=3, threshold=0.9):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(depth))
        self.halt = nn.Linear(4, 1)
        self.threshold = nn.Parameter(torch.tensor(threshold), requires_grad=False)

    def forward(self, x):
        total = torch.zeros(x.shape[0], 1)
        for depth, layer in enumerate(self.layers):
            x = torch.relu(layer(x))
            p = torch.sigmoid(self.halt(x))
            total = total + p
            if (total > self.threshold).all():  # breaks
                break
        else:
            depth = len(self.layers)
        return x, depth


@torch.compile(backend="eager")
def confident(logits, threshold=0.5):
    probabilities = logits.softmax(-1)
    best, index = probabilities.max(-1)
    if best > threshold:  # breaks
        return index
    entropy = -(probabilities * probabilities.log()).sum()
    return index if entropy < 1 else torch.full_like(index, -1)


@torch.compile(backend="eager")
def clipped(x, limit=1.0):
    norm = torch.linalg.vector_norm(x)
    if norm > limit:  # breaks
        x = x * (limit / norm)
    largest = x.abs().max()
    return x if largest < 10 else x.clamp(-10, 10)  # breaks


if __name__ == "__main__":
    torch.compile(Halting(), backend="eager")(torch.randn(2, 4))
    confident(torch.randn(5))
    clipped(torch.randn(5))
