import math
import random
import torch


class UCB:
    def __init__(self, arms):
        self.counts = torch.zeros(arms)
        self.values = torch.zeros(arms)

    def select(self, t):
        untried = torch.nonzero(self.counts == 0).flatten()  # breaks
        if len(untried) > 0:
            return random.choice(untried.tolist())  # breaks
        bonus = torch.sqrt(2 * math.log(t) / self.counts)
        return int(torch.argmax(self.values + bonus))

    def update(self, arm, reward):
        self.counts[arm] += 1
        self.values[arm] += (reward - self.values[arm]) / self.counts[arm]


ucb = UCB(3)
select = torch.compile(ucb.select, backend="eager")
for t in range(1, 3):
    arm = select(t)
    ucb.update(arm, 1.0)
