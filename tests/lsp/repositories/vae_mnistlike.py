import torch, torch.nn as nn
import torch.nn.functional as F
from typing import NamedTuple


class VAEOutput(NamedTuple):
    recon: torch.Tensor
    mu: torch.Tensor
    logvar: torch.Tensor


class VAE(nn.Module):
    def __init__(self, x_dim=12, h=16, z=3):
        super().__init__()
        self.enc = nn.Linear(x_dim, h)
        self.mu, self.logvar = nn.Linear(h, z), nn.Linear(h, z)
        self.dec = nn.Sequential(nn.Linear(z, h), nn.ReLU(), nn.Linear(h, x_dim))

    def encode(self, x):
        assert torch.isfinite(x).all(), "bad input"
        h = F.relu(self.enc(x))
        return self.mu(h), self.logvar(h)

    def reparameterize(self, mu, logvar):
        if not self.training:
            return mu
        std = torch.exp(0.5 * logvar)
        return mu + torch.randn_like(std) * std

    def forward(self, x):
        mu, logvar = self.encode(x)
        z = self.reparameterize(mu, logvar)
        return VAEOutput(torch.sigmoid(self.dec(z)), mu, logvar)


class BetaScheduler:
    def __init__(self, max_beta, warmup):
        self.max_beta, self.warmup, self.n = max_beta, warmup, 0

    def step(self):
        self.n += 1

    @property
    def beta(self):
        return min(1.0, self.n / self.warmup) * self.max_beta


@torch.compile(backend="eager", dynamic=True)
def elbo(out, x, beta):
    rec = F.binary_cross_entropy(out.recon, x, reduction="sum") / x.size(0)
    kl = -0.5 * (1 + out.logvar - out.mu.pow(2) - out.logvar.exp()).sum(1).mean()
    loss = rec + beta * kl
    stats = {"rec": rec.item(), "kl": kl.item()}  # breaks
    return loss, stats


vae = VAE()
cvae = torch.compile(vae, backend="eager")
optim = torch.optim.Adam(vae.parameters(), 1e-3)
sched = BetaScheduler(1.0, 4)
for it in range(2):
    sched.step()
    x = torch.rand(4, 12)
    out = cvae(x)
    loss, stats = elbo(out, x, sched.beta)
    optim.zero_grad()
    loss.backward()
    optim.step()
    print(it, stats)
vae.eval()
with torch.no_grad():
    cvae(torch.rand(4, 12))
