"""A compiled module whose values change, are mutated, guarded on and used."""

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.cache = []

    def helper(self, q):
        return torch.mm(q, self.linear.weight)  #: mm

    def forward(self, x):
        y = self.linear(x)
        y = self.helper(y)  #: start
        y = y.view(-1)  #: reshape
        self.cache.append(y)  #: append
        y = y.half()  #: half
        self.late = 3  #: late
        return y.view(4, 4) - x


if __name__ == "__main__":
    print(torch.compile(Model(), backend="eager", dynamic=False)(torch.ones(4, 4)).shape)
