import torch
from torch import nn


class TimeEmbed(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.mlp = nn.Sequential(nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, dim))

    def forward(self, t):
        half = self.dim // 2
        freqs = torch.exp(-torch.arange(half) * 0.5)
        args = t[:, None].float() * freqs
        return self.mlp(torch.cat([args.sin(), args.cos()], dim=-1))


class Denoiser(nn.Module):
    def __init__(self, ch=8):
        super().__init__()
        self.time = TimeEmbed(ch)
        self.inp = nn.Conv2d(3, ch, 3, padding=1)
        self.out = nn.Conv2d(ch, 3, 3, padding=1)

    def forward(self, x, t):
        h = self.inp(x) + self.time(t)[:, :, None, None]
        return self.out(torch.nn.functional.silu(h))


class DDIMSampler:
    def __init__(self, model, steps=3, eta=0.3, threshold=True):
        self.model = model
        self.alphas = torch.linspace(0.99, 0.05, steps + 1)
        self.steps = steps
        self.eta = eta
        self.threshold = threshold
        self.history = []

    def dynamic_threshold(self, x0, p=0.95):
        s = torch.quantile(x0.abs().flatten(1), p, dim=1).max().item()  # breaks
        if s > 1.0:
            x0 = x0.clamp(-s, s) / s
        return x0

    @torch.compile(backend="eager")
    def step(self, x, t):
        a_t = self.alphas[t]
        a_prev = self.alphas[t - 1]  # breaks
        eps = self.model(x, t.expand(x.shape[0]))
        x0 = (x - (1 - a_t).sqrt() * eps) / a_t.sqrt()
        if self.threshold:
            x0 = self.dynamic_threshold(x0)
        x = a_prev.sqrt() * x0 + (1 - a_prev).sqrt() * eps
        if t > 1:  # breaks
            x = x + self.eta * torch.randn_like(x)
        return x, x0

    @torch.inference_mode()
    def sample(self, shape):
        x = torch.randn(shape)
        for i in reversed(range(1, self.steps + 1)):
            x, x0 = self.step(x, torch.tensor(i))
            self.history.append(x0.mean().item())
        return x


sampler = DDIMSampler(Denoiser().eval())
img = sampler.sample((2, 3, 8, 8))
print(img.shape, len(sampler.history))
