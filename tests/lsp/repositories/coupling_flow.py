"""RealNVP density model: coupling layers + actnorm with data dependent init."""
import math
import torch
from torch import nn


class Bijector(nn.Module):
    def inverse(self, z):
        raise NotImplementedError(type(self).__name__)


class ActNorm(Bijector):
    def __init__(self, d):
        super().__init__()
        self.loc = nn.Parameter(torch.zeros(d))
        self.log_scale = nn.Parameter(torch.zeros(d))
        self.register_buffer("initialized", torch.tensor(False))

    @torch.no_grad()
    def _init(self, x):
        self.loc.copy_(-x.mean(0))
        self.log_scale.copy_(-x.std(0).clamp(min=1e-3).log())
        self.initialized.fill_(True)

    def forward(self, x):
        if self.training and not self.initialized:  # breaks
            self._init(x)
        return (x + self.loc) * self.log_scale.exp(), self.log_scale.sum().expand(len(x))

    def inverse(self, z):
        return z * (-self.log_scale).exp() - self.loc


class Coupling(Bijector):
    def __init__(self, d, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(d // 2, 16), nn.ReLU(), nn.Linear(16, d))

    def params(self, a):
        s, t = self.net(a).chunk(2, -1)
        return torch.tanh(s), t

    def forward(self, x):
        a, b = x.chunk(2, -1)
        if self.flip:
            a, b = b, a
        s, t = self.params(a)
        b = b * s.exp() + t
        return torch.cat((b, a) if self.flip else (a, b), -1), s.sum(-1)

    def inverse(self, z):
        a, b = z.chunk(2, -1)
        if self.flip:
            a, b = b, a
        s, t = self.params(a)
        b = (b - t) * (-s).exp()
        return torch.cat((b, a) if self.flip else (a, b), -1)


class Flow(nn.Module):
    def __init__(self, d=4, n=2):
        super().__init__()
        self.steps = nn.ModuleList()
        for i in range(n):
            self.steps.extend([ActNorm(d), Coupling(d, i % 2 == 1)])
        self.d = d

    def log_prob(self, x):
        ld = x.new_zeros(x.shape[0])
        for s in self.steps:
            x, l = s(x)
            ld = ld + l
        return -0.5 * (x.square() + math.log(2 * math.pi)).sum(-1) + ld

    @torch.no_grad()
    def sample(self, n):
        z = torch.randn(n, self.d)
        for s in reversed(self.steps):
            z = s.inverse(z)
        return z


def main():
    flow = Flow()
    flow.log_prob = torch.compile(flow.log_prob, backend="eager")
    flow.sample = torch.compile(flow.sample, backend="eager", fullgraph=True)
    opt = torch.optim.Adam(flow.parameters(), 1e-3)
    for _ in range(2):
        nll = -flow.log_prob(torch.randn(32, 4) * 2 + 1).mean()
        opt.zero_grad(); nll.backward(); opt.step()
    x = flow.sample(5)
    assert x.isfinite().all()
    print(nll.item(), x.shape)


main()
