"""State that is made on the first call."""

import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim=4):
        super().__init__()
        self.dim = dim
        self.cos = None
        self.length = 0
        self.scale = torch.tensor(1.0)

    def build(self, n):
        t = torch.arange(n)
        self.cos = torch.outer(t, torch.ones(self.dim)).cos()
        self.length = n

    def forward(self, x):
        n = x.shape[0]
        if self.cos is None or n > self.length:
            self.build(n)
        if self.scale != 1.0:  # breaks
            x = x * self.scale
        return x * self.cos[:n]


class KV:
    def __init__(self):
        self.keys = []

    def update(self, k):
        self.keys.append(k)
        if len(self.keys) > 1:
            return torch.cat(self.keys)
        return k

    def __len__(self):
        return len(self.keys)

    def __bool__(self):
        return True


class Cached(nn.Module):
    def __init__(self):
        super().__init__()
        self.rotary = Rotary()
        self.kv = KV()

    def forward(self, x):
        x = self.rotary(x)
        if self.kv:
            x = self.kv.update(x)
        states = [x]
        states.append(x.shape[0])
        if states[-1] > 100:
            print("long")
        history = [x]
        history[0] = 3
        if history[0] > 5:
            print("deep")
        return x


if __name__ == "__main__":
    torch.compile(Cached(), backend="eager")(torch.ones(3, 4))
