"""A diffusion sampler, compiled as a whole."""

import torch
from torch import nn


class Scheduler:
    def __init__(self, steps=4):
        self.betas = torch.linspace(1e-4, 0.02, steps)
        self.alphas = torch.cumprod(1 - self.betas, 0)
        self.timesteps = list(range(steps))[::-1]

    def step(self, noise, t, sample):
        alpha = self.alphas[t]
        previous = self.alphas[t - 1] if t > 0 else torch.tensor(1.0)
        clean = (sample - (1 - alpha).sqrt() * noise) / alpha.sqrt()
        return previous.sqrt() * clean + (1 - previous).sqrt() * noise


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Embedding(4, 4)
        self.lin = nn.Linear(4, 4)

    def forward(self, x, t):
        if not torch.is_tensor(t):
            t = torch.tensor([t])
        if t.dim() == 0:
            t = t[None]
        return self.lin(x + self.time(t))


class Pipeline:
    def __init__(self):
        self.model, self.scheduler = Denoiser(), Scheduler()

    @torch.no_grad()
    def __call__(self, x, guidance=1.0, callback=None):
        for i, t in enumerate(self.scheduler.timesteps):
            noise = self.model(x, t)
            if guidance > 1.0:
                noise = noise * guidance
            x = self.scheduler.step(noise, t, x)
            if callback is not None:
                callback(i, x)
        x = (x / 2 + 0.5).clamp(0, 1)
        if x.isnan().any():  # breaks
            print("NaN in sample")
        return x.cpu().numpy()


pipe = Pipeline()

if __name__ == "__main__":
    torch.compile(pipe.__call__, backend="eager")(torch.randn(2, 4))
