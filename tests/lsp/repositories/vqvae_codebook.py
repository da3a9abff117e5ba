import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import einsum


def exists(v):
    return v is not None


def default(v, d):
    return v if exists(v) else d


def ema_inplace(avg, new, decay):
    avg.mul_(decay).add_(new, alpha=1 - decay)


class Codebook(nn.Module):
    def __init__(self, n, d, decay=0.8, threshold_dead=0.5, kmeans_init=True):
        super().__init__()
        self.decay, self.threshold_dead = decay, threshold_dead
        self.register_buffer("embed", torch.zeros(n, d) if kmeans_init else torch.randn(n, d))
        self.register_buffer("cluster_size", torch.ones(n))
        self.register_buffer("initted", torch.Tensor([not kmeans_init]))

    def init_embed_(self, flat):
        if self.initted.item():  # breaks
            return
        pick = torch.randint(0, flat.shape[0], (self.embed.shape[0],))
        self.embed.data.copy_(flat[pick])
        self.initted.fill_(1.0)

    def expire_codes_(self, flat):
        dead = self.cluster_size < self.threshold_dead
        if not torch.any(dead):  # breaks
            return
        n = dead.sum().item()
        pick = torch.randperm(flat.shape[0])[:n]
        self.embed.data[dead] = flat[pick][:n]
        self.cluster_size.data[dead] = 1.0

    def forward(self, x):
        flat = x.detach().reshape(-1, x.shape[-1])
        self.init_embed_(flat)
        d = torch.cdist(flat, self.embed)
        ind = d.argmin(-1)
        q = F.embedding(ind, self.embed)
        if self.training:
            onehot = F.one_hot(ind, self.embed.shape[0]).type_as(flat)
            ema_inplace(self.cluster_size, onehot.sum(0), self.decay)
            mean = einsum("n c, n d -> c d", onehot, flat) / onehot.sum(0).clamp(min=1)[:, None]
            ema_inplace(self.embed, mean, self.decay)
            self.expire_codes_(flat)
        return q.view_as(x), ind.view(x.shape[:-1])


class ResidualVQ(nn.Module):
    def __init__(self, n_q, n, d, commitment=None):
        super().__init__()
        self.layers = nn.ModuleList([Codebook(n, d) for _ in range(n_q)])
        self.commitment = default(commitment, 0.25)

    def forward(self, x):
        res, out, losses, codes = x, 0.0, [], []
        for layer in self.layers:
            q, i = layer(res)
            losses.append(F.mse_loss(res, q.detach()) * self.commitment)
            q = res + (q - res).detach()
            res = res - q.detach()
            out = out + q
            codes.append(i)
        return out, torch.stack(codes, -1), torch.stack(losses).sum()


torch.manual_seed(0)
vq = torch.compile(ResidualVQ(2, 8, 4), backend="eager")
for _ in range(3):
    y, codes, loss = vq(torch.randn(2, 10, 4))
print(y.shape, codes.unique().numel(), loss.item())
