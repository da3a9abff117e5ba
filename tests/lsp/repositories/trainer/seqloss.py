import torch
import torch.nn as nn
import torch.nn.functional as F


class MaskedNLL(nn.Module):
    def __init__(self, pad=0, truncate=True):
        super().__init__()
        self.pad, self.truncate = pad, truncate

    def lengths(self, y):
        return (y != self.pad).sum(1)

    def forward(self, logits, y):
        if self.truncate:
            T = int(self.lengths(y).max())  # breaks
            logits, y = logits[:, :T], y[:, :T]
        nll = F.cross_entropy(logits.transpose(1, 2), y, reduction="none")
        mask = y != self.pad
        return nll[mask].mean()  # breaks


class PackedTagger(nn.Module):
    def __init__(self, vocab=20, tags=5, dim=8):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        self.fwd = nn.GRUCell(dim, dim)
        self.out = nn.Linear(dim, tags)

    def forward(self, x):
        h = x.new_zeros(x.shape[0], self.emb.embedding_dim, dtype=torch.float)
        lens = (x != 0).sum(1)
        ys = []
        for t, step in enumerate(self.emb(x).unbind(1)):
            alive = (lens > t).unsqueeze(1)
            h = torch.where(alive, self.fwd(step, h), h)
            ys.append(h)
        return self.out(torch.stack(ys, 1))
