import torch
from torch import nn, Tensor
from typing import List

EOS = 3


class Decoder(nn.Module):
    def __init__(self, vocab=12, dim=8):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.cell = nn.GRUCell(dim, dim)
        self.out = nn.Linear(dim, vocab)

    def forward(self, tok: Tensor, h: Tensor):
        h = self.cell(self.emb(tok), h)
        return self.out(h), h


def pick(logits: Tensor) -> int:
    # greedy
    return logits.argmax(-1).item()  # breaks


def is_finished(tok: int, produced: List[int]) -> bool:
    return tok == EOS or len(produced) >= 4


@torch.compile(backend="eager")
def decode_one(dec: Decoder, tok: Tensor, h: Tensor):
    logits, h = dec(tok, h)
    logits = logits / 0.7
    nxt = pick(logits[0])
    return nxt, h


def generate(dec: Decoder, start: int) -> List[int]:
    h = torch.zeros(1, 8)
    produced: List[int] = []
    tok = start
    while not is_finished(tok, produced):
        tok, h = decode_one(dec, torch.tensor([tok]), h)
        produced.append(tok)
    return produced


@torch.compile(backend="eager")
def score_sequence(dec: Decoder, seq: Tensor):
    h = torch.zeros(1, 8)
    total = torch.zeros(())
    for t in range(seq.numel() - 1):
        logits, h = dec(seq[t : t + 1], h)
        total = total + logits.log_softmax(-1)[0, seq[t + 1]]  # breaks
    avg = total / seq.numel()
    return float(avg)


def main():
    torch.manual_seed(0)
    dec = Decoder().eval()
    with torch.no_grad():
        ids = generate(dec, 1)
        print("generated", ids)
        print("score", score_sequence(dec, torch.tensor([1, 2, 3, 4])))


main()
