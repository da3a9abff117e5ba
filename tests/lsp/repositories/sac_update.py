import copy
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F

LOG_STD_MAX, LOG_STD_MIN = 2, -5


class QNet(nn.Module):
    def __init__(self, o, a):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(o + a, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, s, a):
        return self.fc(torch.cat([s, a], 1)).squeeze(-1)


class Actor(nn.Module):
    def __init__(self, o, a):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(o, 16), nn.ReLU())
        self.mu, self.log_std = nn.Linear(16, a), nn.Linear(16, a)

    def forward(self, s):
        h = self.trunk(s)
        ls = torch.tanh(self.log_std(h))
        return self.mu(h), LOG_STD_MIN + 0.5 * (LOG_STD_MAX - LOG_STD_MIN) * (ls + 1)

    def sample(self, s):
        mu, ls = self(s)
        std = ls.exp()
        x = mu + std * torch.randn_like(std)
        y = torch.tanh(x)
        logp = (-((x - mu) ** 2) / (2 * std**2) - ls - 0.919).sum(1)
        logp -= torch.log(1 - y.pow(2) + 1e-6).sum(1)
        return y, logp


class Replay:
    def __init__(self, cap=100):
        self.buf = deque(maxlen=cap)

    def add(self, *tr): self.buf.append(tr)

    def sample(self, n):
        return [torch.stack(z) for z in zip(*random.sample(list(self.buf), n))]


class SAC:
    def __init__(self, o=4, a=2, gamma=0.99, tau=0.05, autotune=True):
        self.actor, self.q1, self.q2 = Actor(o, a), QNet(o, a), QNet(o, a)
        self.q1_t, self.q2_t = copy.deepcopy(self.q1), copy.deepcopy(self.q2)
        self.q_opt = torch.optim.Adam([*self.q1.parameters(), *self.q2.parameters()], 1e-3)
        self.a_opt = torch.optim.Adam(self.actor.parameters(), 1e-3)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.alpha_opt = torch.optim.Adam([self.log_alpha], 1e-3)
        self.target_entropy = -float(a)
        self.gamma, self.tau, self.autotune = gamma, tau, autotune
        self.logs = {}

    def critic_loss(self, s, a, r, s2, d):
        alpha = self.log_alpha.exp().item()  # breaks
        with torch.no_grad():
            a2, lp2 = self.actor.sample(s2)
            tq = torch.min(self.q1_t(s2, a2), self.q2_t(s2, a2)) - alpha * lp2
            y = r + (1 - d) * self.gamma * tq
        return F.mse_loss(self.q1(s, a), y) + F.mse_loss(self.q2(s, a), y)

    def actor_loss(self, s):
        pi, lp = self.actor.sample(s)
        q = torch.min(self.q1(s, pi), self.q2(s, pi))
        loss = (self.log_alpha.exp().detach() * lp - q).mean()
        self.logs["actor"] = float(loss)  # breaks
        return loss, lp

    @torch.no_grad()
    def soft_update(self):
        for net, tgt in ((self.q1, self.q1_t), (self.q2, self.q2_t)):
            for p, tp in zip(net.parameters(), tgt.parameters()):
                tp.lerp_(p, self.tau)

    def compile(self):
        for name in ("critic_loss", "actor_loss", "soft_update"):
            setattr(self, name, torch.compile(getattr(self, name), backend="eager"))
        return self


agent, rb = SAC().compile(), Replay()
for _ in range(32):
    rb.add(torch.randn(4), torch.rand(2), torch.randn(()), torch.randn(4), torch.zeros(()))
for step in range(3):
    batch = rb.sample(16)
    lq = agent.critic_loss(*batch)
    agent.q_opt.zero_grad(); lq.backward(); agent.q_opt.step()
    la, logp = agent.actor_loss(batch[0])
    agent.a_opt.zero_grad(); la.backward(); agent.a_opt.step()
    if agent.autotune:
        l_alpha = -(agent.log_alpha.exp() * (logp.detach() + agent.target_entropy)).mean()
        agent.alpha_opt.zero_grad(); l_alpha.backward(); agent.alpha_opt.step()
    agent.soft_update()
print(agent.logs, agent.log_alpha.item())
