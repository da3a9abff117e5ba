import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        return x * 2


net = Net()
net.compile(backend="eager")
for n in (2, 3, 4):
    x = torch.ones(n)
    y = net(x)
print(y)
