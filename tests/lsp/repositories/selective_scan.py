"""A slow-but-clear state space layer. One graph per sequence length."""
from typing import Literal

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

ScanImpl = Literal["loop", "cumsum"]


def scan_loop(a, b):
    h = torch.zeros_like(b[:, 0])
    hs = []
    for t in range(a.shape[1]):
        h = a[:, t] * h + b[:, t]
        hs.append(h)
    return torch.stack(hs, 1)


def scan_cumsum(a, b):
    la = a.clamp(min=1e-6).log().cumsum(1)
    return (b * (-la).exp()).cumsum(1) * la.exp()


SCANS = {"loop": scan_loop, "cumsum": scan_cumsum}


class SSM(nn.Module):
    def __init__(self, d: int, n: int = 4, impl: ScanImpl = "loop"):
        super().__init__()
        self.A_log = nn.Parameter(torch.arange(1, n + 1).float().log().repeat(d, 1))
        self.D = nn.Parameter(torch.ones(d))
        self.proj = nn.Linear(d, 2 * n + 1)
        self.dt = nn.Linear(1, d)
        self.n = n
        self.scan = SCANS[impl]

    def forward(self, x):
        dt, B, C = self.proj(x).split([1, self.n, self.n], -1)
        dt = F.softplus(self.dt(dt))
        A = -self.A_log.exp()
        a = torch.exp(dt.unsqueeze(-1) * A)
        b = (dt * x).unsqueeze(-1) * B.unsqueeze(-2)
        y = (self.scan(a, b) * C.unsqueeze(-2)).sum(-1)
        return y + self.D * x


class Mixer(nn.Module):
    def __init__(self, d, impl, remat=False):
        super().__init__()
        self.norm = nn.RMSNorm(d)
        self.inp = nn.Linear(d, 2 * d)
        self.ssm = SSM(d, impl=impl)
        self.out = nn.Linear(d, d)
        self.remat = remat

    def forward(self, x):
        u, g = self.inp(self.norm(x)).chunk(2, -1)
        u = checkpoint(self.ssm, u, use_reentrant=False) if self.remat else self.ssm(u)
        return x + self.out(u * F.silu(g))


class LM(nn.Module):
    def __init__(self, vocab=30, d=8, impls=("loop", "cumsum")):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.layers = nn.Sequential(*[Mixer(d, i) for i in impls])
        self.head = nn.Linear(d, vocab, bias=False)
        self.head.weight = self.emb.weight

    def forward(self, ids, targets=None):
        h = self.layers(self.emb(ids))
        logits = self.head(h)
        if targets is None:
            return logits[:, [-1]], None
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1)


lm = LM()
step = torch.compile(lm, backend="aot_eager")
ids = torch.randint(0, 30, (2, 7))
for i in range(2):
    _, loss = step(ids, ids.roll(-1, 1))
    loss.backward()
    if loss.item() > 100:
        raise SystemExit("diverged")
    print(i, float(loss))
