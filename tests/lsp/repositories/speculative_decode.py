import random
import torch
from torch import nn


class Toy(nn.Module):
    def __init__(self, vocab, dim, seed):
        super().__init__()
        g = torch.Generator().manual_seed(seed)
        self.e = nn.Parameter(torch.randn(vocab, dim, generator=g))
        self.o = nn.Parameter(torch.randn(dim, vocab, generator=g))

    def forward(self, ids):
        h = self.e[ids].cumsum(0) / torch.arange(1, len(ids) + 1)[:, None]
        return (h @ self.o).softmax(-1)


class Stats:
    accepted = 0
    proposed = 0

    @classmethod
    def bump(cls, n, k):
        cls.accepted += n
        cls.proposed += k


def draft(model, ids, k):
    probs = []
    for _ in range(k):
        p = model(ids)[-1]
        probs.append(p)
        ids = torch.cat([ids, p.argmax()[None]])
    return ids, torch.stack(probs)


def accept(p, q):
    if p >= q:  # breaks
        return True
    return random.random() < (p / q).item()  # breaks


def verify(target_probs, draft_probs, proposal, k):
    n = 0
    for i in range(k):
        tok = proposal[i].item()  # breaks
        if accept(target_probs[i, tok], draft_probs[i, tok]):
            n += 1
        else:
            break
    return n


def residual_sample(p, q):
    new = torch.clamp(p - q, min=0)
    z = new.sum()
    if z == 0:  # breaks
        return p.argmax()[None]
    return torch.multinomial(new / z, 1)


def speculative_step(target, drafter, ids, k=3):
    n0 = ids.shape[0]
    guess, q = draft(drafter, ids, k)
    p = target(guess)[n0 - 1:]
    n = verify(p, q, guess[n0:], k)
    Stats.bump(n, k)
    if n == k:
        nxt = torch.multinomial(p[-1], 1)
    else:
        nxt = residual_sample(p[n], q[n])
    return torch.cat([guess[:n0 + n], nxt])


random.seed(0)
torch.manual_seed(0)
big, small = Toy(20, 8, 0), Toy(20, 4, 1)
big = torch.compile(big, backend="eager", dynamic=True)
spec = torch.compile(speculative_step, backend="eager", dynamic=True)
ids = torch.tensor([1, 2])
with torch.no_grad():
    while ids.shape[0] < 7:
        ids = spec(big, small, ids)
print(ids.tolist(), Stats.accepted, "/", Stats.proposed)
