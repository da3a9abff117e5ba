import random
from collections import deque, namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F

Transition = namedtuple("Transition", ["obs", "act", "rew", "nxt", "done"])


class QNet(nn.Module):
    def __init__(self, obs_dim, n_act):
        super().__init__()
        self.fc1 = nn.Linear(obs_dim, 16)
        self.fc2 = nn.Linear(16, n_act)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


class Agent:
    def __init__(self, obs_dim=4, n_act=3, eps=0.0):
        self.n_act = n_act
        self.eps = eps
        self.q = QNet(obs_dim, n_act)
        self.target = QNet(obs_dim, n_act)
        self.target.load_state_dict(self.q.state_dict())
        self.opt = torch.optim.SGD(self.q.parameters(), lr=0.01)
        self.buffer = deque(maxlen=100)
        self.last_td = 0.0
        self.act = torch.compile(self._act, backend="eager")
        self.td_loss = torch.compile(self._td_loss, backend="eager")

    def _act(self, obs):
        if random.random() < self.eps:  # breaks
            return random.randrange(self.n_act)
        q = self.q(obs.unsqueeze(0))
        action = int(q.argmax(dim=1))  # breaks
        return action

    def _td_loss(self, batch):
        q = self.q(batch.obs).gather(1, batch.act[:, None]).squeeze(1)
        with torch.no_grad():
            best = self.target(batch.nxt).max(1).values
            y = batch.rew + 0.99 * best * (1 - batch.done)
        td = y - q
        self.last_td = td.abs().mean().item()  # breaks
        return F.smooth_l1_loss(q, y)

    def learn(self, n):
        samples = random.sample(list(self.buffer), n)
        batch = Transition(*[torch.stack(c) for c in zip(*samples)])
        loss = self.td_loss(batch)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


if __name__ == "__main__":
    random.seed(0)
    torch.manual_seed(0)
    agent = Agent()
    obs = torch.randn(4)
    for _ in range(8):
        a = agent.act(obs)
        nxt = torch.randn(4)
        agent.buffer.append(
            Transition(obs, torch.tensor(a), torch.tensor(1.0), nxt, torch.tensor(0.0))
        )
        obs = nxt
    print(agent.learn(4), agent.last_td)
