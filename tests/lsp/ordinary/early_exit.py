import torch
from torch import nn


class Stage(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(d, d), nn.ReLU())
        self.head = nn.Linear(d, 3)

    def forward(self, x):
        x = self.body(x)
        return x, self.head(x)


class Cascade(nn.Module):
    def __init__(self, d=8, stages=3, threshold=0.9):
        super().__init__()
        self.stages = nn.ModuleList(Stage(d) for _ in range(stages))
        self.threshold = threshold

    def forward(self, x):
        for i, stage in enumerate(self.stages):
            x, logits = stage(x)
            confidence = logits.softmax(-1).amax(-1).min()
            if confidence > self.threshold:  # breaks
                return logits, i
        return logits, len(self.stages)


model = torch.compile(Cascade(), backend="eager")
model(torch.randn(2, 8))
