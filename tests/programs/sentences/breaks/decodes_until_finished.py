"""Greedy decoding that stops when every sequence has ended."""

import torch
from torch import nn

torch.manual_seed(0)
EOS = 3


class Tiny(nn.Module):
    def __init__(self, vocab=12, dim=16):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.head = nn.Linear(dim, vocab)

    def forward(self, tokens):
        return self.head(self.emb(tokens).mean(1))


def finished(tokens):
    return (tokens == EOS).any(dim=1)


@torch.compile(backend="eager")
def generate(model, tokens, max_new):
    for _ in range(max_new):
        logits = model(tokens)
        nxt = logits.argmax(-1, keepdim=True)
        tokens = torch.cat([tokens, nxt], dim=1)
        if finished(tokens).all():
            break
    return tokens


model = Tiny().eval()
with torch.no_grad():
    print(generate(model, torch.tensor([[1, 2], [4, 5]]), 5).tolist())
    print(generate(model, torch.tensor([[3, 3], [3, 3]]), 5).tolist())
# breaks: 30
# compiles: 4
# remedy: 24 -> # each turn is compiled && 35 -> model = torch.compile(Tiny().eval(), backend="eager") -> breaks none
