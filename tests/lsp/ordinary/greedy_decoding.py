import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, vocab=12, d=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.cell = nn.GRUCell(d, d)
        self.head = nn.Linear(d, vocab)

    def forward(self, h, max_len=5, eos=0):
        token = torch.ones(h.size(0), dtype=torch.long)
        out = []
        for _ in range(max_len):
            h = self.cell(self.embed(token), h)
            token = self.head(h).argmax(-1)
            out.append(token)
            if (token == eos).all():  # breaks
                break
        return torch.stack(out, 1)


decode = torch.compile(Decoder(), backend="eager")
with torch.no_grad():
    decode(torch.randn(2, 8))
