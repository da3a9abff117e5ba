import torch


class ReplayBuffer:
    KEYS = ("obs", "act", "rew", "nobs", "done")

    def __init__(self, cap):
        self.cap, self.data = cap, []

    def add(self, *tr):
        self.data.append(tr)
        if len(self.data) > self.cap:
            self.data.pop(0)

    def sample(self, n):
        idx = torch.randint(0, len(self.data), (n,)).tolist()
        cols = zip(*(self.data[i] for i in idx))
        return {k: torch.stack(c).float() for k, c in zip(self.KEYS, cols)}
