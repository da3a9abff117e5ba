"""Greedy decoding, with an end token."""

import torch
from torch import nn


class LM(nn.Module):
    def __init__(self, vocab=11, width=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.head = nn.Linear(width, vocab)
        self.register_buffer("seen", torch.zeros(1))
        self.eos = 3

    def forward(self, ids):
        return self.head(self.embed(ids))

    @torch.no_grad()
    def generate(self, ids, steps=3):
        done = torch.zeros(ids.shape[0], dtype=torch.bool)
        for _ in range(steps):
            logits = self(ids)[:, -1]
            token = logits.argmax(-1)
            done = done | (token == self.eos)
            ids = torch.cat([ids, token[:, None]], 1)
            if done.all():  # breaks
                break
        text = ids[0].tolist()
        self.seen += 1
        if self.seen.item() > 100:
            self.seen.zero_()
        return ids, text


if __name__ == "__main__":
    lm = LM()
    fast = torch.compile(lm.generate, backend="eager")
    fast(torch.zeros(2, 2, dtype=torch.long))
