import torch
from torch import nn


class SpectralNorm(nn.Module):
    def __init__(self, d=6, iters=3):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(d, d))
        self.register_buffer("u", nn.functional.normalize(torch.randn(d), dim=0))
        self.iters = iters

    def forward(self, x):
        u = self.u
        for _ in range(self.iters):
            v = nn.functional.normalize(self.weight.t() @ u, dim=0)
            u = nn.functional.normalize(self.weight @ v, dim=0)
        sigma = torch.dot(u, self.weight @ v)
        self.u.copy_(u.detach())
        if sigma > 1:  # breaks
            return x @ (self.weight / sigma)
        return x @ self.weight


layer = torch.compile(SpectralNorm(), backend="eager")
layer(torch.randn(2, 6))
