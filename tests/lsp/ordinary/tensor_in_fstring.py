import torch
from torch import nn


class Verbose(nn.Module):
    def __init__(self, verbose=True):
        super().__init__()
        self.fc1 = nn.Linear(4, 8)
        self.fc2 = nn.Linear(8, 1)
        self.verbose = verbose

    def forward(self, x):
        h = self.fc1(x)
        if self.verbose:
            print(f"hidden: {h.mean():.3f}")  # breaks
        h = torch.relu(h)
        return self.fc2(h)


model = torch.compile(Verbose(), backend="eager")
model(torch.randn(2, 4))
quiet = torch.compile(Verbose(verbose=False), backend="eager")
quiet(torch.randn(2, 4))
