import torch
import torch.nn as nn


class LM(nn.Module):
    def __init__(self, V, D):
        super().__init__()
        self.emb = nn.Embedding(V, D)
        self.rnn = nn.GRUCell(D, D)
        self.head = nn.Linear(D, V)

    def step(self, tok, h):
        h = self.rnn(self.emb(tok), h)
        return self.head(h).log_softmax(-1), h


class Hypothesis:
    def __init__(self, tokens, score):
        self.tokens = tokens
        self.score = score

    def normalized(self, alpha=0.6):
        return self.score / (len(self.tokens) ** alpha)


class BeamSearcher:
    def __init__(self, lm, beam, eos, max_len):
        self.lm, self.beam, self.eos, self.max_len = lm, beam, eos, max_len
        self.finished = []

    def expand(self, logp, scores):
        cand = scores[:, None] + logp
        top, flat = cand.view(-1).topk(self.beam)
        V = logp.size(-1)
        return top, torch.div(flat, V, rounding_mode="floor"), flat % V

    def collect(self, seqs, scores, toks):
        for b in range(self.beam):
            if toks[b] == self.eos:  # breaks
                self.finished.append(Hypothesis(seqs[b].tolist(), scores[b].item()))
                scores[b] = -1e9
        return scores

    @torch.compile(backend="eager")
    def advance(self, seqs, scores, h):
        logp, h = self.lm.step(seqs[:, -1], h)
        scores, parents, toks = self.expand(logp, scores)
        seqs = torch.cat([seqs[parents], toks[:, None]], dim=1)
        scores = self.collect(seqs, scores, toks)
        return seqs, scores, h[parents]

    def search(self, bos):
        seqs = torch.full((self.beam, 1), bos)
        scores = torch.tensor([0.0] + [-1e9] * (self.beam - 1))
        h = torch.zeros(self.beam, 6)
        for _ in range(self.max_len):
            seqs, scores, h = self.advance(seqs, scores, h)
        self.finished += [Hypothesis(s.tolist(), float(v)) for s, v in zip(seqs, scores)]
        return max(self.finished, key=lambda hyp: hyp.normalized())


torch.manual_seed(4)
with torch.no_grad():
    best = BeamSearcher(LM(5, 6), 3, 0, 4).search(1)
print(best.tokens, round(best.normalized(), 3))
