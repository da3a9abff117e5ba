import logging
from collections import defaultdict

import torch
import torch.nn as nn
from torch.distributions import Categorical

log = logging.getLogger("ppo")


def layer_init(layer, std=1.41):
    nn.init.orthogonal_(layer.weight, std)
    nn.init.constant_(layer.bias, 0.0)
    return layer


class ActorCritic(nn.Module):
    def __init__(self, obs_dim: int, n_act: int):
        super().__init__()
        self.trunk = nn.Sequential(layer_init(nn.Linear(obs_dim, 32)), nn.Tanh())
        self.pi = layer_init(nn.Linear(32, n_act), 0.01)
        self.v = layer_init(nn.Linear(32, 1), 1.0)

    def evaluate(self, obs, act):
        h = self.trunk(obs)
        dist = Categorical(logits=self.pi(h), validate_args=False)
        return dist.log_prob(act), dist.entropy(), self.v(h).squeeze(-1)


class PPO:
    def __init__(self, net, clip=0.2, target_kl=0.02, compile=True):
        self.net = net
        self.clip = clip
        self.target_kl = target_kl
        self.opt = torch.optim.Adam(net.parameters(), lr=3e-4)
        self.stats = defaultdict(list)
        self.n_updates = 0
        self.loss_fn = self._loss
        if compile:
            self.loss_fn = torch.compile(self._loss, backend="eager")

    def _loss(self, batch):
        logp, ent, value = self.net.evaluate(batch["obs"], batch["act"])
        logratio = logp - batch["logp"]
        ratio = logratio.exp()
        with torch.no_grad():
            approx_kl = ((ratio - 1) - logratio).mean()
            self.stats["kl"].append(approx_kl.item())  # breaks
        adv = batch["adv"]
        if adv.numel() > 1:
            adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        pg = -torch.min(ratio * adv, ratio.clamp(1 - self.clip, 1 + self.clip) * adv).mean()
        vf = 0.5 * (value - batch["ret"]).pow(2).mean()
        if approx_kl > 1.5 * self.target_kl:  # breaks
            log.warning("kl too large: %.4f", approx_kl)  # breaks
        return pg + 0.5 * vf - 0.01 * ent.mean()

    def update(self, batch, epochs=2):
        for _ in range(epochs):
            loss = self.loss_fn(batch)
            self.opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
            self.opt.step()
            self.n_updates += 1
        return loss.item()


if __name__ == "__main__":
    torch.manual_seed(1)
    agent = PPO(ActorCritic(4, 2))
    n = 16
    batch = dict(obs=torch.randn(n, 4), act=torch.randint(0, 2, (n,)),
                 logp=torch.full((n,), -2.0), adv=torch.randn(n), ret=torch.randn(n))
    print("loss", agent.update(batch), dict(agent.stats))
