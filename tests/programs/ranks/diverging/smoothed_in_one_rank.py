"""A loss over a vocabulary in parts is summed by an autograd function, once more where labels are smoothed."""

import torch
from job import compiled, end, start, total

rank, _ = start()


class Summed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return total(x)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class Head(torch.nn.Module):
    def __init__(self, smoothing):
        super().__init__()
        self.smoothing = smoothing
        self.weight = torch.nn.Parameter(torch.randn(6, 4))

    def forward(self, hidden, log_every):
        logits = hidden @ self.weight.t() * (1 if log_every > 2 else 2)
        loss = Summed.apply(logits.exp().sum(-1)).log()
        if self.smoothing:  # PARTS self.smoothing is
            loss = loss - self.smoothing * Summed.apply(logits.sum(-1))
        return loss.mean()


head = compiled(Head(0.1 if rank == 0 else 0.0))
for _ in range(3):
    loss = head(torch.ones(5, 4), 2 + rank)
    loss.backward()
end(loss.item())
