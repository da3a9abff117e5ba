"""Beta-VAE. Everything that syncs stays outside of the compiled step."""
from __future__ import annotations

import argparse
import time
from typing import NamedTuple

import torch
import torch.nn as nn
import torch.nn.functional as F


class VAEOutput(NamedTuple):
    recon: torch.Tensor
    mu: torch.Tensor
    logvar: torch.Tensor


class Encoder(nn.Module):
    def __init__(self, din: int, dz: int) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(din, 32), nn.GELU())
        self.heads = nn.ModuleDict({"mu": nn.Linear(32, dz), "logvar": nn.Linear(32, dz)})

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        h = self.net(x)
        return {name: head(h) for name, head in self.heads.items()}


class VAE(nn.Module):
    def __init__(self, din: int = 20, dz: int = 4, debug: bool = False) -> None:
        super().__init__()
        self.encoder = Encoder(din, dz)
        self.decoder = nn.Sequential(nn.Linear(dz, 32), nn.GELU(), nn.Linear(32, din))
        self.debug = debug

    def reparameterize(self, mu, logvar):
        if not self.training:
            return mu
        std = torch.exp(0.5 * logvar)
        return mu + std * torch.randn_like(std)

    def forward(self, x) -> VAEOutput:
        stats = self.encoder(x)
        z = self.reparameterize(**stats)
        if self.debug:
            print("z norm", z.norm().item())
        return VAEOutput(self.decoder(z), stats["mu"], stats["logvar"])


def elbo(out: VAEOutput, x: torch.Tensor, beta: float):
    rec = F.mse_loss(out.recon, x, reduction="sum") / x.shape[0]
    kld = -0.5 * (1 + out.logvar - out.mu.pow(2) - out.logvar.exp()).sum(1).mean()
    return rec + beta * kld, {"rec": rec.detach(), "kld": kld.detach()}


def train(args):
    model = VAE()
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)

    def forward_loss(x, beta):
        return elbo(model(x), x, beta)

    if args.compile:
        forward_loss = torch.compile(forward_loss, backend="eager")
    t0 = time.time()
    for step in range(args.steps):
        loss, logs = forward_loss(torch.randn(16, 20), args.beta)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        if step % 2 == 0:
            print(step, {k: round(v.item(), 3) for k, v in logs.items()}, f"{time.time() - t0:.2f}s")


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--compile", type=int, default=1)
    p.add_argument("--steps", type=int, default=3)
    p.add_argument("--beta", type=float, default=2.0)
    p.add_argument("--lr", type=float, default=1e-3)
    train(p.parse_args([]))
