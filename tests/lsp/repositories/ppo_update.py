import torch
import torch.nn as nn
from dataclasses import dataclass
from torch.distributions import Categorical


@dataclass
class Args:
    clip: float = 0.2
    vf_coef: float = 0.5
    ent_coef: float = 0.01
    target_kl: float = 0.02
    epochs: int = 2
    compile: bool = True


class ActorCritic(nn.Module):
    def __init__(self, obs_dim, n_act):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(obs_dim, 16), nn.Tanh(), nn.Linear(16, n_act))
        self.v = nn.Sequential(nn.Linear(obs_dim, 16), nn.Tanh(), nn.Linear(16, 1))

    def evaluate(self, obs, act):
        logits = self.pi(obs)
        logp_all = logits.log_softmax(-1)
        ent = -(logp_all.exp() * logp_all).sum(-1)
        return logp_all.gather(1, act[:, None])[:, 0], ent, self.v(obs)[:, 0]

    @torch.no_grad()
    def act(self, obs):
        dist = Categorical(logits=self.pi(obs))
        a = dist.sample()
        return a, dist.log_prob(a)


def gae(rew, val, done, gamma=0.99, lam=0.95):
    adv = torch.zeros_like(rew)
    last = torch.zeros(())
    for t in reversed(range(rew.shape[0] - 1)):
        nonterm = 1.0 - done[t + 1]
        delta = rew[t] + gamma * val[t + 1] * nonterm - val[t]
        last = delta + gamma * lam * nonterm * last
        adv[t] = last
    return adv, adv + val


class PPO:
    def __init__(self, args):
        self.args = args
        self.ac = ActorCritic(4, 3)
        self.opt = torch.optim.Adam(self.ac.parameters(), lr=3e-4)
        self.clipfracs = []
        self.loss, self.gae = self._loss, gae
        if args.compile:
            self.loss, self.gae = torch.compile(self._loss, backend="eager"), torch.compile(gae, backend="eager")

    def _loss(self, b):
        logp, ent, v = self.ac.evaluate(b["obs"], b["act"])
        logratio = logp - b["logp"]
        ratio = logratio.exp()
        with torch.no_grad():
            kl = ((ratio - 1) - logratio).mean()
            self.clipfracs += [((ratio - 1.0).abs() > self.args.clip).float().mean().item()]  # breaks
        stop = False
        if kl > 1.5 * self.args.target_kl:  # breaks
            stop = True
        adv = (b["adv"] - b["adv"].mean()) / (b["adv"].std() + 1e-8)
        pg = torch.max(-adv * ratio, -adv * ratio.clamp(1 - self.args.clip, 1 + self.args.clip)).mean()
        loss = pg + self.args.vf_coef * (v - b["ret"]).pow(2).mean() - self.args.ent_coef * ent.mean()
        return loss, stop

    def update(self, b):
        for _ in range(self.args.epochs):
            loss, stop = self.loss(b)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            if stop:
                break
        return loss.item()


torch.manual_seed(0)
ppo = PPO(Args())
obs = torch.randn(8, 4)
act, logp = ppo.ac.act(obs)
with torch.no_grad():
    adv, ret = ppo.gae(torch.randn(8), ppo.ac.v(obs)[:, 0], torch.zeros(8))
print(ppo.update(dict(obs=obs, act=act, logp=logp, adv=adv, ret=ret)), ppo.clipfracs)
