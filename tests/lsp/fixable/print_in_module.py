import torch
from torch import nn


class Chatty(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(2, 2)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        print("call", self.calls)
        return self.lin(x).sum()


torch.manual_seed(0)
net = Chatty()
fast = torch.compile(net, backend="eager")
print(round(fast(torch.ones(1, 2)).item(), 3), net.calls)
