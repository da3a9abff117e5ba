import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList(nn.Linear(3, 3) for _ in range(2))
        self.heads = nn.ModuleList(nn.Linear(3, 1) for _ in range(2))

    def forward(self, x):
        for stage, head in zip(self.stages, self.heads):
            x = stage(x)
            if head(x) > 0:  # breaks
                return x
        return x * 2


torch.compile(Model(), backend="eager")(torch.ones(3))
