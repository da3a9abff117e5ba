"""A sampler denoises in as many steps as a caller asks for."""

import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Linear(width, width)

    def sample(self, noise, steps, guidance):
        x = noise
        for step in range(steps):
            x = x - guidance * self.net(x) / (step + 1)
        return x


torch.manual_seed(0)
denoiser = Denoiser(3)
sample = torch.compile(denoiser.sample)
noise = torch.randn(2, 3)
with torch.no_grad():
    for steps in (1, 2, 4, 3):
        print(steps, sample(noise, steps, 0.5).sum().item())

# function: Denoiser.sample
# compiles: 4
# over: no
# next: with torch.no_grad(): sample(noise, 5, 0.5)
# remedy: +21 -> denoiser.net.compile() && 21 -> sample = denoiser.sample   -> compiles 0
# remedy: 21 -> sample = torch.compile(denoiser.sample, dynamic=True)   -> compiles 4
# remedy: +21 -> torch._dynamo.config.recompile_limit = 64   -> compiles 4
