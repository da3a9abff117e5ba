"""A scale is read in forward and updated between forward and backward."""
import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self.register_buffer("scale", torch.tensor(2.0))

    def forward(self, x):
        scale = self.scale
        h = self.lin(x)
        return h * scale.item()


torch.manual_seed(0)
net = Scaled()
step = torch.compile(net, backend="eager")
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    loss = step(torch.ones(2, 3)).square().mean()
    net.scale.mul_(0.5)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"{loss.item():.5f}")
