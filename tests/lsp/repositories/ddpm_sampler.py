import argparse
from functools import partial

import torch
import torch.nn as nn

jit = partial(torch.compile, backend="eager", dynamic=False)


class TimeMLP(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, d), nn.SiLU(), nn.Linear(d, d))

    def forward(self, t):
        return self.net(t[:, None].float() / 10)


class Denoiser(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.temb = TimeMLP(d)
        self.inp, self.mid, self.out = nn.Linear(2, d), nn.Linear(d, d), nn.Linear(d, 2)

    def forward(self, x, t):
        h = torch.relu(self.inp(x)) + self.temb(t)
        return self.out(torch.relu(self.mid(h)))


class GaussianDiffusion:
    def __init__(self, model, steps):
        self.model = model
        self.steps = steps
        betas = torch.linspace(1e-3, 0.2, steps)
        self.alphas = 1 - betas
        self.abar = torch.cumprod(self.alphas, 0)

    @jit
    def p_losses(self, x0, t, noise):
        a = self.abar[t][:, None]
        xt = a.sqrt() * x0 + (1 - a).sqrt() * noise
        eps = self.model(xt, t)
        return ((eps - noise) ** 2).mean()

    @jit
    def p_sample(self, x, t):
        a, ab = self.alphas[t][:, None], self.abar[t][:, None]
        eps = self.model(x, t)
        mean = (x - (1 - a) / (1 - ab).sqrt() * eps) / a.sqrt()
        if t[0] == 0:  # breaks
            return mean
        return mean + (1 - a).sqrt() * torch.randn_like(x)

    @torch.no_grad()
    def sample(self, n):
        x = torch.randn(n, 2)
        for i in reversed(range(self.steps)):
            t = torch.full((n,), i, dtype=torch.long)
            x = self.p_sample(x, t)
        return x


def dynamic_threshold(x, q=0.9):
    s = torch.quantile(x.abs(), q)
    if s > 1.0:  # breaks
        x = x / s
    return x.clamp(-1, 1)


dynamic_threshold = jit(dynamic_threshold)

if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=4)
    args, _ = p.parse_known_args([])
    torch.manual_seed(0)
    diff = GaussianDiffusion(Denoiser(), args.steps)
    loss = diff.p_losses(torch.randn(4, 2), torch.randint(0, args.steps, (4,)), torch.randn(4, 2))
    loss.backward()
    out = diff.sample(4)
    out = dynamic_threshold(out * 5)
    print(loss.item(), out.abs().max().item())
