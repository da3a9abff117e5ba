import itertools
import torch
import torch.nn as nn


def chunks(x, size):
    for i in range(0, x.size(0), size):
        yield x[i:i + size]


def windows(seq, n):
    it = iter(seq)
    buf = list(itertools.islice(it, n))
    if len(buf) == n:
        yield tuple(buf)
    for e in it:
        buf = buf[1:] + [e]
        yield tuple(buf)


class ChunkedFFN(nn.Module):
    def __init__(self, dim, chunk):
        super().__init__()
        self.chunk = chunk
        self.up, self.down = nn.Linear(dim, dim * 2), nn.Linear(dim * 2, dim)

    def _ffn(self, x):
        return self.down(torch.relu(self.up(x)))

    def forward(self, x):
        if x.size(0) <= self.chunk:
            return self._ffn(x)
        return torch.cat([self._ffn(c) for c in chunks(x, self.chunk)])


def pairwise_smoothness(states):
    loss = 0.0
    for a, b, c in windows(states, 3):
        loss = loss + (a - 2 * b + c).square().mean()
    return loss


@torch.compile(backend="eager")
def run(model, x):
    y = model(x)
    states = [s for s in y.unbind(0)]
    n = sum(1 for s in states if s.numel() > 2)
    names = {f"s{i}": s for i, s in enumerate(states)}
    picked = list(filter(lambda kv: not kv[0].endswith("0"), names.items()))
    total = sum(map(lambda kv: kv[1].mean(), picked))
    return pairwise_smoothness(states) / n + total


def report(loss):
    print("loss = %.4f" % loss.item())
    if loss > 10:
        print("large")


model = ChunkedFFN(4, 3)
loss = run(model, torch.randn(7, 4))
loss.backward()
report(loss)
