import torch
from torch import nn


class Base(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.fc = nn.Linear(d, d)

    def forward(self, x):
        h = self.transform(self.fc(x))
        self.report(h)
        return h

    def transform(self, h):
        raise NotImplementedError

    def report(self, h):
        pass


class Gated(Base):
    def transform(self, h):
        gate = torch.sigmoid(h)
        if gate.mean() > 0.5:  # breaks
            return h * gate
        return h

    def report(self, h):
        print("norm", h.norm().item())  # breaks


gated = torch.compile(Gated(4), backend="eager")
gated(torch.randn(2, 4))
