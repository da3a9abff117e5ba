"""A cell makes its hidden state at the first step of a sequence."""

import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.i2h = nn.Linear(width, width)
        self.h2h = nn.Linear(width, width, bias=False)

    def forward(self, x, hidden=None):
        if hidden is None:
            hidden = torch.zeros_like(x)
        return torch.tanh(self.i2h(x) + self.h2h(hidden))


torch.manual_seed(0)
cell = Cell(3)
step = torch.compile(cell, backend="eager")
sequence = torch.randn(4, 2, 3)
with torch.no_grad():
    hidden = None
    for x in sequence:
        hidden = step(x, hidden)
print(hidden.sum().item())

# function: Cell.forward
# compiles: 2
# over: yes
# next: with torch.no_grad(): step(sequence[0], torch.ones(2, 3))
# remedy: 24 -> hidden = torch.zeros(2, 3)   -> compiles 1
# remedy: 21 -> step = torch.compile(cell, backend="eager", dynamic=True)   -> compiles 2
