import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.Identity()

    def forward(self, x):
        y = self.norm(x)
        if y.max() > 9:
            y = y * 0.5
        return y


fast = torch.compile(Net(), backend="eager")
for value in (1.0, 20.0):
    x = torch.full((2,), value)
    fast(x).add_(1)
    print(x)
