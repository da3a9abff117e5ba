"""A network gets another layer after each stage of its training."""

import torch
from torch import nn


class Growing(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.layers = nn.ModuleList([nn.Linear(width, width)])

    def grow(self):
        self.layers.append(nn.Linear(self.width, self.width))

    def forward(self, x, residual):
        for layer in self.layers:
            x = residual * x + torch.tanh(layer(x))
        return x


torch.manual_seed(0)
net = Growing(3)
compiled = torch.compile(net)
x = torch.randn(2, 3)
with torch.no_grad():
    for _ in range(4):
        print(len(net.layers), compiled(x, 0.5).sum().item())
        net.grow()

# function: Growing.forward
# compiles: 4
# over: no
# next: with torch.no_grad(): compiled(x, 0.5)
# remedy: 14 -> self.layers.append(nn.Linear(self.width, self.width)), self.layers[-1].compile() && 24 -> compiled = net; net.layers[0].compile()   -> compiles 0
# remedy: 24 -> compiled = torch.compile(net, dynamic=True)   -> compiles 4
# remedy: +24 -> torch._dynamo.config.recompile_limit = 64   -> compiles 4
