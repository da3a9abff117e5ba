import random
import torch
from torch import nn


class QNet(nn.Module):
    def __init__(self, n_actions=3):
        super().__init__()
        self.fc = nn.Linear(4, n_actions)
        self.n_actions = n_actions

    def forward(self, s):
        return self.fc(s)

    @torch.compile(backend="eager")
    def select(self, s, eps=0.0):
        if random.random() < eps:  # breaks
            return random.randrange(self.n_actions)
        return self(s).argmax(-1).item()  # breaks


q, target = QNet(), QNet()


@torch.compile(backend="eager")
def td_loss(s, a, r, s2, done):
    qsa = q(s).gather(1, a.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        best = target(s2).max(1)[0]
        y = r + 0.99 * best * (1 - done)
    return nn.functional.smooth_l1_loss(qsa, y)


with torch.no_grad():
    q.select(torch.randn(4))
td_loss(torch.randn(2, 4), torch.tensor([0, 1]), torch.ones(2), torch.randn(2, 4), torch.zeros(2))
