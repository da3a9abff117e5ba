"""A number computed from a buffer that is updated before the backward pass."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(2, 2)
        self.register_buffer("gain", torch.tensor(1.5))

    def forward(self, x):
        gain = self.gain
        k = torch.sigmoid(gain).item()
        h = self.lin(x)
        y = h * k
        return y.sum()


torch.manual_seed(0)
net = Net()
fast = torch.compile(net, backend="aot_eager")
for i in range(3):
    loss = fast(torch.ones(1, 2))
    net.gain.add_(0.5)
    loss.backward()
    print(round(loss.item(), 4), round(net.lin.weight.grad.sum().item(), 4))
