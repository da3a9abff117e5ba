import random
import torch
from torch import nn


class Seq2Seq(nn.Module):
    def __init__(self, vocab=10, d=6, teacher_forcing=0.5):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.encoder = nn.GRU(d, d, batch_first=True)
        self.cell = nn.GRUCell(d, d)
        self.out = nn.Linear(d, vocab)
        self.teacher_forcing = teacher_forcing

    def forward(self, src, tgt):
        _, h = self.encoder(self.emb(src))  # breaks
        h = h.squeeze(0)
        token = tgt[:, 0]
        outputs = []
        for t in range(1, tgt.shape[1]):
            h = self.cell(self.emb(token), h)
            logits = self.out(h)
            outputs.append(logits)
            token = tgt[:, t] if random.random() < self.teacher_forcing else logits.argmax(-1)
        return torch.stack(outputs, 1)


model = torch.compile(Seq2Seq(), backend="eager")
model(torch.randint(0, 10, (2, 4)), torch.randint(0, 10, (2, 3)))
