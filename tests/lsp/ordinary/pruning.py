import torch
from torch import nn


class MaskedLinear(nn.Module):
    def __init__(self, d=6, sparsity=0.5):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(d, d))
        self.register_buffer("mask", torch.ones(d, d))
        self.sparsity = sparsity

    def prune(self):
        k = int(self.weight.numel() * self.sparsity)
        threshold = self.weight.abs().flatten().kthvalue(k).values
        self.mask = (self.weight.abs() > threshold).float()
        return 1 - self.mask.mean().item()  # breaks

    def forward(self, x):
        return x @ (self.weight * self.mask)


layer = MaskedLinear()
prune = torch.compile(layer.prune, backend="eager")
prune()
compiled = torch.compile(layer, backend="eager")
compiled(torch.randn(2, 6))
