"""A package with relative imports and a helper two files away."""

import torch
from parts.layers import Attention, Pool


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention(4)
        self.pool = Pool()

    def forward(self, x):
        return self.pool(self.attention(x))


if __name__ == "__main__":
    torch.compile(Net(), backend="eager", mode="default")(torch.randn(3, 4))
