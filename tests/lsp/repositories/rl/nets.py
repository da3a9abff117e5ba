import torch
import torch.nn as nn


class NoisyLinear(nn.Linear):
    def __init__(self, i, o, sigma=0.4):
        super().__init__(i, o)
        self.sigma = nn.Parameter(torch.full((o, i), sigma / i ** 0.5))
        self.frozen = False

    def forward(self, x):
        if self.frozen or not self.training:
            return super().forward(x)
        w = self.weight + self.sigma * torch.randn_like(self.sigma)
        return nn.functional.linear(x, w, self.bias)


class DuelingC51(nn.Module):
    def __init__(self, obs, n_act, atoms=11, vmin=-5., vmax=5., noisy=True):
        super().__init__()
        L = NoisyLinear if noisy else nn.Linear
        self.n_act, self.atoms = n_act, atoms
        self.body = nn.Sequential(nn.Linear(obs, 16), nn.ReLU())
        self.val, self.adv = L(16, atoms), L(16, atoms * n_act)
        self.register_buffer("support", torch.linspace(vmin, vmax, atoms))

    def dist(self, obs):
        h = self.body(obs)
        adv = self.adv(h).view(-1, self.n_act, self.atoms)
        logits = self.val(h)[:, None] + adv - adv.mean(1, keepdim=True)
        return logits.log_softmax(-1)

    def forward(self, obs):
        return (self.dist(obs).exp() * self.support).sum(-1)
