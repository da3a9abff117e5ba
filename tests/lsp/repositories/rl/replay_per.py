import random
import torch


class SumTree:
    def __init__(self, cap):
        self.cap = cap
        self.tree = [0.0] * (2 * cap)

    def set(self, i, p):
        i += self.cap
        self.tree[i] = p
        while i > 1:
            i //= 2
            self.tree[i] = self.tree[2 * i] + self.tree[2 * i + 1]

    def find(self, v):
        i = 1
        while i < self.cap:
            i *= 2
            if v > self.tree[i]:
                v -= self.tree[i]
                i += 1
        return i - self.cap


class PrioritizedReplay:
    def __init__(self, cap, obs_dim, alpha=0.6):
        self.sum_tree = SumTree(cap)
        self.alpha, self.cap, self.n = alpha, cap, 0
        self.data = {"obs": torch.zeros(cap, obs_dim), "act": torch.zeros(cap, dtype=torch.long),
                     "rew": torch.zeros(cap), "next": torch.zeros(cap, obs_dim), "done": torch.zeros(cap)}

    def add(self, **tr):
        i = self.n % self.cap
        for k, v in tr.items():
            self.data[k][i] = v
        self.sum_tree.set(i, 1.0)
        self.n += 1

    def sample(self, k):
        total = self.sum_tree.tree[1]
        idx = [min(self.sum_tree.find(random.random() * total), self.n - 1) for _ in range(k)]
        return torch.tensor(idx), {k_: v[idx] for k_, v in self.data.items()}

    def update_priorities(self, idx, td):
        for i, p in zip(idx.tolist(), td.abs().tolist()):
            self.sum_tree.set(i, (p + 1e-3) ** self.alpha)
