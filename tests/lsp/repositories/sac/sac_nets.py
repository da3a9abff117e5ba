import copy
import math

import torch
import torch.nn as nn
from torch.distributions import Normal


def mlp(i, o, h=16):
    return nn.Sequential(nn.Linear(i, h), nn.ReLU(), nn.Linear(h, o))


class Actor(nn.Module):
    def __init__(self, o=3, a=1):
        super().__init__()
        self.net = mlp(o, 2 * a)

    def forward(self, obs, deterministic=False):
        mu, log_std = self.net(obs).chunk(2, -1)
        if deterministic:
            return mu.tanh(), None
        dist = Normal(mu, log_std.clamp(-5, 2).exp())
        u = dist.rsample()
        logp = dist.log_prob(u) - 2 * (math.log(2) - u - nn.functional.softplus(-2 * u))
        return u.tanh(), logp.sum(-1)


class TwinQ(nn.Module):
    def __init__(self, o=3, a=1, n=2):
        super().__init__()
        self.qs = nn.ModuleList(mlp(o + a, 1) for _ in range(n))

    def forward(self, obs, act):
        x = torch.cat([obs, act], -1)
        return torch.stack([q(x).squeeze(-1) for q in self.qs])

    def frozen_copy(self):
        return copy.deepcopy(self).requires_grad_(False)
