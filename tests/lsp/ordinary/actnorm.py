"""Data-dependent initialization, as in Glow."""

import torch
import torch.nn as nn


class ActNorm(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.loc = nn.Parameter(torch.zeros(1, features))
        self.scale = nn.Parameter(torch.ones(1, features))
        self.register_buffer("initialized", torch.tensor(0, dtype=torch.uint8))

    def initialize(self, x):
        with torch.no_grad():
            self.loc.data.copy_(-x.mean(0, keepdim=True))
            self.scale.data.copy_(1 / (x.std(0, keepdim=True) + 1e-6))

    def forward(self, x):
        if self.training and self.initialized.item() == 0:  # breaks
            self.initialize(x)
            self.initialized.fill_(1)
        return self.scale * (x + self.loc)


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = ActNorm(4)
        self.net = nn.Linear(4, 4)

    def forward(self, x):
        return self.net(self.norm(x))


flow = torch.compile(Flow(), backend="eager")
flow(torch.randn(8, 4))
