"""A phase is read in forward, and changed before the backward pass."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(2, 2)
        self.register_buffer("phase", torch.tensor(0.0))

    def forward(self, x):
        phase = self.phase
        h = self.lin(x)
        if phase > 0.5:
            y = torch.tanh(h)
        else:
            y = h * 2
        return y.sum()


torch.manual_seed(0)
net = Net()
fast = torch.compile(net, backend="aot_eager")
for i in range(3):
    loss = fast(torch.ones(1, 2))
    net.phase.add_(0.4)
    net.zero_grad()
    loss.backward()
    print(round(loss.item(), 4), round(net.lin.weight.grad.sum().item(), 4))
