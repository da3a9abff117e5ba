import os
import torch
import torch.nn as nn

os.environ.setdefault("DEBUG_SHAPES", "0")
DEBUG_SHAPES = os.environ["DEBUG_SHAPES"] == "1"


class WorldModel(nn.Module):
    """Dreamer-like RSSM with three compiled entry points."""

    def __init__(self, obs=6, stoch=4, deter=8, act=2, compile_methods=("observe", "imagine", "kl_loss")):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(obs, 8), nn.ELU())
        self.gru = nn.GRUCell(stoch + act, deter)
        self.prior = nn.Linear(deter, 2 * stoch)
        self.post = nn.Linear(deter + 8, 2 * stoch)
        self.reward, self.cont = nn.Linear(deter, 1), nn.Linear(deter, 1)
        self.stoch, self.deter = stoch, deter
        for name in compile_methods:
            setattr(self, name, torch.compile(getattr(self, name), backend="eager"))

    def dist(self, raw):
        mean, std = raw.chunk(2, -1)
        return mean, nn.functional.softplus(std) + 0.1

    def sample(self, stats):
        mean, std = stats
        return mean + std * torch.randn_like(mean)

    def initial(self, b):
        return torch.zeros(b, self.deter), torch.zeros(b, self.stoch)

    def observe(self, obs, act, first):
        B, T = obs.shape[:2]
        h, z = self.initial(B)
        emb = self.encoder(obs)
        priors, posts = [], []
        for t in range(T):
            if first[:, t].any():  # breaks
                keep = (1 - first[:, t].float()).unsqueeze(-1)
                h, z = h * keep, z * keep
            h = self.gru(torch.cat([z, act[:, t]], -1), h)
            priors.append(self.dist(self.prior(h)))
            posts.append(self.dist(self.post(torch.cat([h, emb[:, t]], -1))))
            z = self.sample(posts[-1])
            if DEBUG_SHAPES:
                print(h.shape, z.shape)
        return h, z, priors, posts

    def imagine(self, h, z, horizon):
        rewards = []
        for _ in range(horizon):
            act = torch.tanh(z[:, :2])
            h = self.gru(torch.cat([z, act], -1), h)
            z = self.sample(self.dist(self.prior(h)))
            rewards.append(self.reward(h).squeeze(-1))
            if self.cont(h).sigmoid().max() < 0.01:  # breaks
                break
        return torch.stack(rewards, 1)

    def kl_loss(self, priors, posts, free=1.0):
        kls = []
        for (pm, ps), (qm, qs) in zip(priors, posts):
            kls.append((torch.log(ps / qs) + (qs ** 2 + (qm - pm) ** 2) / (2 * ps ** 2) - 0.5).sum(-1))
        kl = torch.stack(kls).mean()
        return torch.maximum(kl, torch.tensor(free))


torch.manual_seed(0)
wm = WorldModel()
first = torch.zeros(2, 3, dtype=torch.bool)
first[:, 0] = True
h, z, pr, po = wm.observe(torch.randn(2, 3, 6), torch.randn(2, 3, 2), first)
r = wm.imagine(h, z, 2)
(wm.kl_loss(pr, po) - r.mean()).backward()
print(r.shape)
