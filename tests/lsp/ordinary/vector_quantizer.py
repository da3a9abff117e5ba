import torch
from torch import nn
import torch.nn.functional as F


class Codebook(nn.Module):
    def __init__(self, n=16, d=4):
        super().__init__()
        self.embedding = nn.Embedding(n, d)
        self.register_buffer("usage", torch.zeros(n))

    def forward(self, z):
        flat = z.reshape(-1, z.shape[-1])
        d = torch.cdist(flat, self.embedding.weight)
        idx = d.argmin(dim=1)
        used = torch.unique(idx)  # breaks
        self.usage[used] += 1
        dead = (self.usage < 1).nonzero().squeeze(-1)  # breaks
        if dead.numel() > 0:
            self.usage[dead] = 0.5
        q = self.embedding(idx).view_as(z)
        loss = F.mse_loss(q.detach(), z) + 0.25 * F.mse_loss(q, z.detach())
        perplexity = torch.exp(-(used.float() / 16).mean())
        return z + (q - z).detach(), loss, perplexity


quantize = torch.compile(Codebook(), backend="eager")
with torch.no_grad():
    quantize(torch.randn(2, 3, 4))
