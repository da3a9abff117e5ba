import math
import torch
import torch.nn as nn


class Coupling(nn.Module):
    def __init__(self, dim, hidden, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(dim // 2, hidden), nn.Tanh(), nn.Linear(hidden, dim))

    def _split(self, x):
        a, b = x.chunk(2, dim=-1)
        return (b, a) if self.flip else (a, b)

    def _merge(self, a, b):
        return torch.cat([b, a] if self.flip else [a, b], dim=-1)

    def forward(self, x):
        a, b = self._split(x)
        s, t = self.net(a).chunk(2, -1)
        s = torch.tanh(s)
        return self._merge(a, b * s.exp() + t), s.sum(-1)

    def inverse(self, y):
        a, b = self._split(y)
        s, t = self.net(a).chunk(2, -1)
        return self._merge(a, (b - t) * torch.exp(-torch.tanh(s)))


class ActNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.loc = nn.Parameter(torch.zeros(dim))
        self.logs = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        return (x + self.loc) * self.logs.exp(), self.logs.sum().expand(x.size(0))

    def inverse(self, y):
        return y * torch.exp(-self.logs) - self.loc


class Flow(nn.Module):
    def __init__(self, dim=4, n=3):
        super().__init__()
        layers = []
        for i in range(n):
            layers += [ActNorm(dim), Coupling(dim, 8, flip=i % 2 == 1)]
        self.layers = nn.ModuleList(layers)
        self.dim = dim

    def forward(self, x):
        logdet = x.new_zeros(x.size(0))
        for layer in self.layers:
            x, ld = layer(x)
            logdet = logdet + ld
        logp = -0.5 * (x ** 2).sum(-1) - 0.5 * self.dim * math.log(2 * math.pi)
        return logp + logdet

    def sample(self, n):
        z = torch.randn(n, self.dim)
        for layer in reversed(self.layers):
            z = layer.inverse(z)
        return z


flow = Flow()
flow.compile(backend="eager")
opt = torch.optim.Adam(flow.parameters())
best = float("inf")
for step in range(3):
    nll = -flow(torch.randn(8, 4)).mean()
    opt.zero_grad()
    nll.backward()
    opt.step()
    if nll.item() < best:
        best = nll.item()
sampler = torch.compile(flow.sample, backend="eager")
with torch.no_grad():
    print(best, sampler(5).shape)
