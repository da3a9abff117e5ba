import torch
import torch.nn as nn


class LM(nn.Module):
    def __init__(self, vocab=20, d=8):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.out = nn.Linear(d, vocab)

    def forward(self, ids):
        return self.out(self.emb(ids).mean(1))


lm = LM()


@torch.compile(backend="eager")
def search_step(ids, scores, width=3, eos=2):
    logp = torch.log_softmax(lm(ids), dim=-1)
    total = scores.unsqueeze(-1) + logp
    best, flat = total.view(-1).topk(width)
    beams = torch.div(flat, logp.shape[-1], rounding_mode="floor")
    tokens = flat % logp.shape[-1]
    finished = tokens == eos
    if finished.any():  # breaks
        best = best.masked_fill(finished, -1e9)
    history = tokens.tolist()  # breaks
    return torch.cat([ids[beams], tokens[:, None]], 1), best, history


with torch.no_grad():
    ids, scores = torch.ones(3, 1, dtype=torch.long), torch.zeros(3)
    for _ in range(2):
        ids, scores, history = search_step(ids, scores)
