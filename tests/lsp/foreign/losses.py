"""Losses with checks."""

import torch
import torch.nn.functional as F
from torch import nn


class Focal(nn.Module):
    def __init__(self, gamma=2.0, reduction="mean", check=False):
        super().__init__()
        self.gamma, self.reduction, self.check = gamma, reduction, check

    def forward(self, logits, target):
        assert logits.shape[0] == target.shape[0], f"{logits.shape} and {target.shape}"
        assert (target >= 0).all(), "targets are classes"
        assert target.max() < logits.shape[1], f"class {target.max()}"  # breaks
        loss = F.cross_entropy(logits, target, reduction="none")
        loss = (1 - torch.exp(-loss)) ** self.gamma * loss
        if self.check and torch.isnan(loss).any():
            raise RuntimeError("nan")
        return {"mean": torch.mean, "sum": torch.sum}[self.reduction](loss)


class Contrastive(nn.Module):
    def __init__(self):
        super().__init__()
        self.temperature = nn.Parameter(torch.tensor(0.07))

    def forward(self, a, b):
        t = self.temperature.clamp(min=1e-3)
        logits = a @ b.t() / t
        labels = torch.arange(len(a))
        loss = F.cross_entropy(logits, labels)
        if loss > 100:  # breaks
            loss = loss / 10
        scale = float(self.temperature)  # breaks
        return loss * scale


@torch.compile(backend="eager")
def total(a, b, focal, contrastive):
    return focal(a, torch.zeros(len(a), dtype=torch.long)) + contrastive(a, b)


if __name__ == "__main__":
    total(torch.randn(3, 4), torch.randn(3, 4), Focal(), Contrastive())
    torch.compile(Focal(), backend="eager")(torch.randn(3, 4), torch.zeros(3, dtype=torch.long))
    torch.compile(Contrastive(), backend="eager")(torch.randn(3, 4), torch.randn(3, 4))
