import torch
import torch.nn as nn


class Hyp:
    __slots__ = ("tokens", "score")

    def __init__(self, tokens, score):
        self.tokens = tokens
        self.score = score


class BeamHypotheses:
    def __init__(self, n, length_penalty=1.0):
        self.n = n
        self.lp = length_penalty
        self.hyps = []
        self.worst = 1e9

    def add(self, tokens, sum_logprob):
        score = sum_logprob / (len(tokens) ** self.lp)
        self.hyps.append(Hyp(tokens, score))
        self.hyps.sort(key=lambda h: h.score, reverse=True)
        del self.hyps[self.n:]
        self.worst = self.hyps[-1].score

    def is_done(self, best_sum, cur_len):
        if len(self.hyps) < self.n:
            return False
        return self.worst >= best_sum / cur_len ** self.lp


class GRUDecoder(nn.Module):
    def __init__(self, vocab, dim=12):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.cell = nn.GRUCell(dim, dim)
        self.out = nn.Linear(dim, vocab)

    def forward(self, tok, h):
        h = self.cell(self.emb(tok), h)
        return self.out(h).log_softmax(-1), h


class BeamSearcher:
    def __init__(self, model, beam=3, eos=1, max_len=5):
        self.model, self.beam, self.eos, self.max_len = model, beam, eos, max_len

    def advance(self, seqs, scores, h):
        logp, h = self.model(seqs[:, -1], h)
        V = logp.size(-1)
        total = (scores[:, None] + logp).view(-1)
        top, idx = total.topk(2 * self.beam)
        beam_id, tok = idx // V, idx % V
        keep_b, keep_t, keep_s = [], [], []
        for b, t, s in zip(beam_id.tolist(), tok.tolist(), top.tolist()):  # breaks
            if t == self.eos:
                self.done.add(seqs[b].tolist(), s)
            else:
                keep_b.append(b)
                keep_t.append(t)
                keep_s.append(s)
            if len(keep_b) == self.beam:
                break
        sel = torch.tensor(keep_b)
        seqs = torch.cat([seqs[sel], torch.tensor(keep_t)[:, None]], 1)
        return seqs, torch.tensor(keep_s), h[sel]

    @torch.no_grad()
    def search(self, h0):
        self.done = BeamHypotheses(self.beam)
        seqs = torch.zeros(self.beam, 1, dtype=torch.long)
        scores = torch.tensor([0.0] + [-1e4] * (self.beam - 1))
        h = h0.expand(self.beam, -1)
        for step in range(self.max_len):
            seqs, scores, h = self.advance(seqs, scores, h)
            if self.done.is_done(scores.max().item(), step + 2):
                break
        for s, sc in zip(seqs, scores):
            self.done.add(s.tolist(), sc.item())
        return self.done.hyps[0].tokens


torch.manual_seed(4)
searcher = BeamSearcher(GRUDecoder(9))
searcher.advance = torch.compile(searcher.advance, backend="eager", dynamic=True)
print(searcher.search(torch.zeros(1, 12)))
