"""seq2seq beam search; the whole search is compiled, for better or worse"""
import heapq
import torch
import torch.nn as nn

BOS, EOS, PAD = 1, 2, 0


class Hypotheses(object):
    def __init__(self, num_beams, length_penalty=1.0):
        self.num_beams = num_beams
        self.length_penalty = length_penalty
        self.beams = []
        self.worst = 1e9

    def __len__(self):
        return len(self.beams)

    def add(self, tokens, sum_logprobs):
        tokens = tokens.tolist()  # breaks
        score = float(sum_logprobs) / (len(tokens) ** self.length_penalty)  # breaks
        self.beams.append((score, tokens))
        if len(self.beams) > self.num_beams:
            self.beams = sorted(self.beams, key=lambda b: b[0])[1:]
        self.worst = min(b[0] for b in self.beams)

    def best(self):
        return max(self.beams, key=lambda b: b[0])


class Seq2Seq(nn.Module):
    def __init__(self, V=12, D=8):
        super().__init__()
        self.emb = nn.Embedding(V, D)
        self.enc = nn.Linear(D, D)
        self.dec = nn.Linear(2 * D, D)
        self.proj = nn.Linear(D, V)

    def encode(self, src):
        return torch.tanh(self.enc(self.emb(src))).mean(1)

    def decode(self, memory, prefix):
        h = torch.cat([memory.expand(len(prefix), -1), self.emb(prefix).mean(1)], -1)
        return self.proj(torch.tanh(self.dec(h))).log_softmax(-1)


class BeamSearcher:
    def __init__(self, model, beam=3, max_len=5):
        self.model, self.beam, self.max_len = model, beam, max_len

    def advance(self, logp, scores):
        total = scores[:, None] + logp
        s, flat = total.view(-1).topk(self.beam)
        return s, flat // logp.size(1), flat % logp.size(1)

    def retire(self, hyps, prefix, scores, done):
        if not done.any():  # breaks
            return scores
        for b in done.nonzero().flatten().tolist():
            hyps.add(prefix[b], scores[b])
        return scores.masked_fill(done, -1e4)

    def search(self, src):
        memory = self.model.encode(src)
        prefix = torch.full((self.beam, 1), BOS)
        scores = torch.tensor([0.0] + [-1e4] * (self.beam - 1))
        hyps = Hypotheses(self.beam)
        for _ in range(self.max_len):
            logp = self.model.decode(memory, prefix)
            scores, parent, tok = self.advance(logp, scores)
            prefix = torch.cat([prefix[parent], tok[:, None]], 1)
            scores = self.retire(hyps, prefix, scores, tok == EOS)
        for row, s in zip(prefix, scores):
            hyps.add(row, s)
        return hyps.best()


def rerank(cands, k=2):
    return heapq.nlargest(k, cands, key=lambda c: c[0])


torch.manual_seed(4)
searcher = BeamSearcher(Seq2Seq().eval())
searcher.search = torch.compile(searcher.search, backend="eager")
with torch.no_grad():
    results = [searcher.search(torch.randint(3, 12, (1, 6))) for _ in range(2)]
print(rerank(results))
