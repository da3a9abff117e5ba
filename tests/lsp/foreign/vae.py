"""A variational autoencoder with its loss and an annealing schedule."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class VAE(nn.Module):
    def __init__(self, width=8, latent=2, beta=1.0):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(width, 2 * latent), nn.GELU())
        self.decode = nn.Linear(latent, width)
        self.beta = beta
        self.warmup = 100
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))

    def sample(self, mean, log_var):
        if not self.training:
            return mean
        return mean + torch.randn_like(mean) * (0.5 * log_var).exp()

    def weight(self):
        self.steps += 1
        progress = self.steps.item() / self.warmup  # breaks
        return self.beta * min(1.0, progress)

    def forward(self, x):
        mean, log_var = self.encode(x).chunk(2, dim=-1)
        z = self.sample(mean, log_var)
        y = self.decode(z)
        kl = -0.5 * (1 + log_var - mean.pow(2) - log_var.exp()).sum(-1).mean()
        loss = F.mse_loss(y, x) + self.weight() * kl
        if not math.isfinite(loss):  # breaks
            raise FloatingPointError(f"loss is {loss.item()}")
        return loss


if __name__ == "__main__":
    torch.compile(VAE(), backend="eager", fullgraph=False)(torch.randn(4, 8))
