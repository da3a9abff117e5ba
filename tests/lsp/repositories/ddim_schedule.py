import math
from types import SimpleNamespace

import torch
import torch.nn as nn


class TimestepEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.proj = nn.Sequential(nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, dim))

    def forward(self, t):
        half = self.dim // 2
        freqs = torch.exp(-math.log(10000) * torch.arange(half, dtype=torch.float32) / half)
        args = t.float()[:, None] * freqs[None]
        emb = torch.cat([args.cos(), args.sin()], dim=-1)
        if self.dim % 2:
            emb = torch.nn.functional.pad(emb, (0, 1))
        return self.proj(emb)


class ResBlock(nn.Module):
    def __init__(self, c_in, c_out, t_dim):
        super().__init__()
        self.conv = nn.Conv2d(c_in, c_out, 3, padding=1)
        self.emb = nn.Linear(t_dim, c_out)
        self.skip = nn.Identity() if c_in == c_out else nn.Conv2d(c_in, c_out, 1)

    def forward(self, x, temb):
        return self.skip(x) + torch.relu(self.conv(x) + self.emb(temb)[:, :, None, None])


class UNet(nn.Module):
    def __init__(self, ch=8, t_dim=16):
        super().__init__()
        self.config = SimpleNamespace(in_channels=3, sample_size=8)
        self.time = TimestepEmbedding(t_dim)
        self.down = nn.ModuleList([ResBlock(3, ch, t_dim), ResBlock(ch, ch, t_dim)])
        self.up = nn.ModuleList([ResBlock(ch * 2, ch, t_dim), ResBlock(ch * 2, 3, t_dim)])

    def forward(self, x, t, return_dict=True):
        temb = self.time(t)
        skips = []
        for blk in self.down:
            x = blk(x, temb)
            skips.append(x)
        for blk in self.up:
            s = skips.pop()
            if s.shape[-1] != x.shape[-1]:
                s = torch.nn.functional.interpolate(s, size=x.shape[-2:])
            x = blk(torch.cat([x, s], 1), temb)
        if not return_dict:
            return (x,)
        return {"sample": x}


class DDIMScheduler:
    def __init__(self, n=100):
        self.alphas = torch.cumprod(1 - torch.linspace(1e-4, 0.02, n), 0)
        self.timesteps = []

    def set_timesteps(self, k):
        self.timesteps = list(range(len(self.alphas) - 1, -1, -len(self.alphas) // k))

    def step(self, eps, i, x):
        a = self.alphas[self.timesteps[i]].item()
        a_prev = self.alphas[self.timesteps[i + 1]].item() if i + 1 < len(self.timesteps) else 1.0
        x0 = (x - math.sqrt(1 - a) * eps) / math.sqrt(a)
        if x0.abs().max() > 1:
            x0 = x0.clamp(-1, 1)
        return math.sqrt(a_prev) * x0 + math.sqrt(1 - a_prev) * eps


class Pipeline:
    def __init__(self, unet, scheduler):
        self.unet, self.scheduler = unet, scheduler

    @torch.no_grad()
    def __call__(self, n=1, steps=4, verbose=True):
        cfg = self.unet.config
        x = torch.randn(n, cfg.in_channels, cfg.sample_size, cfg.sample_size)
        self.scheduler.set_timesteps(steps)
        for i, t in enumerate(self.scheduler.timesteps):
            eps = self.unet(x, torch.full((n,), t), return_dict=False)[0]
            x = self.scheduler.step(eps, i, x)
            if verbose:
                print(f"[{i}] t={t} |x|={x.norm().item():.3f}")
        return x


pipe = Pipeline(UNet().eval(), DDIMScheduler())
pipe.unet = torch.compile(pipe.unet, backend="eager", fullgraph=True)
img = pipe(n=2)
