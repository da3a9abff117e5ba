import torch
from torch import nn


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))

    def forward(self, t, y):
        return self.net(y)


class AdaptiveEuler(nn.Module):
    def __init__(self, field, rtol=1e-2):
        super().__init__()
        self.field = field
        self.rtol = rtol

    def forward(self, y, t1=0.3):
        t, h = 0.0, 0.1
        while t < t1:
            k1 = self.field(t, y)
            k2 = self.field(t + h, y + h * k1)
            error = (h * (k2 - k1)).abs().max().item()  # breaks
            if error < self.rtol:
                y = y + h * k1
                t += h
            else:
                h *= 0.5
        return y


solver = torch.compile(AdaptiveEuler(Field()), backend="eager")
with torch.no_grad():
    solver(torch.randn(2) * 0.1)
