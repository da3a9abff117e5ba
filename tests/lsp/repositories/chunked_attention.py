import itertools
import torch
import torch.nn as nn


def windows(n, size):
    start = 0
    while start < n:
        yield start, min(start + size, n)
        start += size


def pairs(n):
    for i, j in itertools.combinations(range(n), 2):
        yield i, j


class ChunkAttention(nn.Module):
    """causal attention over chunks of queries, generator-driven"""

    def __init__(self, dim, chunk=4):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(dim, dim) for _ in range(3))
        self.chunk = chunk

    def iter_chunks(self, q):
        for a, b in windows(q.size(1), self.chunk):
            yield a, b, q[:, a:b]

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        outs = []
        for a, b, qc in self.iter_chunks(q):
            s = qc @ k[:, :b].mT / q.size(-1) ** 0.5
            mask = torch.ones(b - a, b, dtype=torch.bool).tril(a)
            outs.append(s.masked_fill(~mask, float("-inf")).softmax(-1) @ v[:, :b])
        return torch.cat(outs, 1)


class DiversityPenalty(nn.Module):
    def forward(self, hs):
        total = hs[0].new_zeros(())
        for i, j in pairs(len(hs)):
            total = total + (hs[i] * hs[j]).mean().abs()
        return total


class Stack(nn.Module):
    def __init__(self, dim=8, n=3):
        super().__init__()
        self.layers = nn.ModuleList(ChunkAttention(dim, c) for c in range(2, 2 + n))
        self.penalty = DiversityPenalty()

    def forward(self, x):
        hs = []
        for layer in self.layers:
            x = x + layer(x)
            hs.append(x)
        return x, self.penalty(hs)


class Streamer:
    def __init__(self, net):
        self.net = torch.compile(net, backend="eager")

    def stream(self, xs):
        for x in xs:
            y, p = self.net(x)
            yield y[:, -1].argmax(-1).tolist(), p.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    for toks, p in Streamer(Stack()).stream(torch.randn(2, 2, 6, 8)):
        print(toks, round(p, 4))
