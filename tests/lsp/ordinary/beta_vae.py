import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


class BetaVAE(nn.Module):
    def __init__(self, d=8, z=2):
        super().__init__()
        self.enc = nn.Linear(d, 2 * z)
        self.dec = nn.Linear(z, d)
        self.register_buffer("num_iter", torch.tensor(0))

    def reparameterize(self, mu, logvar):
        if self.training:
            return mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return mu

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=-1)
        z = self.reparameterize(mu, logvar)
        recon = self.dec(z)
        self.num_iter += 1
        beta = min(1.0, self.num_iter.item() / 100)  # breaks
        kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(-1).mean()
        weight = np.random.uniform(0.9, 1.1)  # breaks
        return recon, F.mse_loss(recon, x) + beta * weight * kl


vae = torch.compile(BetaVAE(), backend="eager")
vae(torch.randn(4, 8))
