import warnings
import torch
from torch import nn


class Safe(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        if x.dim() != 2:
            warnings.warn("expected a matrix")  # breaks
            x = x.reshape(-1, 4)
        y = self.fc(x)
        if y.max() > 1e4:  # breaks
            warnings.warn("large activations")
        return y


safe = torch.compile(Safe(), backend="eager")
safe(torch.randn(2, 2, 4))
