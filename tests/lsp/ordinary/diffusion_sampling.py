import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(5, 4)

    def forward(self, x, t):
        return self.net(torch.cat([x, t.expand(x.shape[0], 1)], dim=1))


class Sampler:
    def __init__(self, model, steps=4):
        self.model = model
        self.betas = torch.linspace(1e-4, 0.02, steps)
        self.alphas = torch.cumprod(1 - self.betas, 0)

    @torch.no_grad()
    def sample(self, n):
        x = torch.randn(n, 4)
        for i in reversed(range(len(self.betas))):
            t = torch.tensor([i / len(self.betas)])
            eps = self.model(x, t)
            a = self.alphas[i]
            x = (x - (1 - a).sqrt() * eps) / a.sqrt()
            if i > 0:
                x = x + self.betas[i].sqrt() * torch.randn_like(x)
            if i % 2 == 0:
                print("step", i)  # breaks
        return x.clamp(-1, 1)


sampler = Sampler(Denoiser())
sample = torch.compile(sampler.sample, backend="eager")
sample(2)
