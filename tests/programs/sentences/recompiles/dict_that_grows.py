"""A module adds a number to a dict in each call, while batches grow."""

import torch


class Cache(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(8, 8)
        self.seen = {}

    def forward(self, x, weight):
        y = self.lin(x) * weight
        for value in self.seen.values():
            y = y + value
        self.seen[len(self.seen)] = float(len(self.seen))
        return y.sum()


torch.manual_seed(0)
net = torch.compile(Cache())
for rows in (4, 6, 8, 10):
    print(round(net(torch.randn(rows, 8), 0.5).item(), 4))

# function: Cache.forward
# compiles: 4
# over: no
# next: net(torch.randn(12, 8), 0.5)
# best: none
