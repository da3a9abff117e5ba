import torch
from torch import nn


class RunningNorm(nn.Module):
    def __init__(self, d=4):
        super().__init__()
        self.register_buffer("mean", torch.zeros(d))
        self.register_buffer("var", torch.ones(d))
        self.register_buffer("count", torch.tensor(1e-4))

    def update(self, x):
        delta = x.mean(0) - self.mean
        total = self.count + x.shape[0]
        self.mean += delta * x.shape[0] / total
        self.var.lerp_(x.var(0), 0.1)
        self.count.copy_(total)

    def forward(self, x):
        if self.training:
            self.update(x)
        if self.count > 1000:  # breaks
            self.eval()
        return (x - self.mean) / (self.var + 1e-8).sqrt()


norm = torch.compile(RunningNorm(), backend="eager")
norm(torch.randn(8, 4))
