import torch
from torch import nn


class Halved(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.ones(2, 2))

    def forward(self, mask):
        table = self.table
        if mask.any():
            table = table * 0.5
        return table


net = Halved()
fast = torch.compile(net, backend="eager")
fast(torch.tensor([True]))
kept = fast(torch.tensor([False]))
optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
net.table.sum().backward()
optimizer.step()
print(kept.tolist())
