import copy
import random

import torch

from nets import DuelingC51
from replay_per import PrioritizedReplay
from tblog import NullWriter, Writer


class RainbowLearner:
    def __init__(self, obs_dim=4, n_act=3, gamma=0.9, writer=None, sync_every=2):
        self.net = DuelingC51(obs_dim, n_act)
        self.target = copy.deepcopy(self.net).requires_grad_(False)
        self.opt = torch.optim.Adam(self.net.parameters(), 1e-3)
        self.gamma, self.sync_every = gamma, sync_every
        self.writer = writer or NullWriter()
        self.updates = 0

    def project(self, rew, done, next_p):
        z = self.net.support
        dz = z[1] - z[0]
        tz = (rew[:, None] + self.gamma * (1 - done[:, None]) * z).clamp(z[0].item(), z[-1].item())  # breaks
        b = (tz - z[0]) / dz
        lo, hi = b.floor().long(), b.ceil().long().clamp(max=len(z) - 1)
        m = torch.zeros_like(next_p)
        m.scatter_add_(1, lo, next_p * (hi.float() + (lo == hi).float() - b))
        m.scatter_add_(1, hi, next_p * (b - lo.float()))
        return m

    def loss(self, batch):
        row = torch.arange(len(batch["act"]))
        logp = self.net.dist(batch["obs"])[row, batch["act"]]
        with torch.no_grad():
            best = self.net(batch["next"]).argmax(1)
            next_p = self.target.dist(batch["next"]).exp()[row, best]
            m = self.project(batch["rew"], batch["done"], next_p)
        ce = -(m * logp).sum(1)
        self.writer.add_scalar("loss/ce", ce.mean(), self.updates)
        if ce.mean() > 2.0:  # breaks
            self.writer.text("large loss")
        return ce

    def sync(self):
        self.target.load_state_dict(self.net.state_dict())


def act(net, obs, eps):
    if random.random() < eps:  # breaks
        return random.randrange(net.n_act)
    return net(obs[None]).argmax(1).item()  # breaks


def main():
    random.seed(0)
    torch.manual_seed(0)
    learner = RainbowLearner(writer=Writer())
    learner.loss = torch.compile(learner.loss, backend="eager")
    policy = torch.compile(act, backend="eager")
    rb = PrioritizedReplay(16, 4)
    obs = torch.randn(4)
    for _ in range(12):
        with torch.no_grad():
            a = policy(learner.net, obs, 0.3)
        nxt = torch.randn(4)
        rb.add(obs=obs, act=a, rew=random.random(), next=nxt, done=0.0)
        obs = nxt
    for _ in range(3):
        idx, batch = rb.sample(6)
        ce = learner.loss(batch)
        learner.opt.zero_grad()
        ce.mean().backward()
        learner.opt.step()
        rb.update_priorities(idx, ce.detach())
        learner.updates += 1
        if learner.updates % learner.sync_every == 0:
            learner.sync()
    print(learner.writer.scalars)


if __name__ == "__main__":
    main()
