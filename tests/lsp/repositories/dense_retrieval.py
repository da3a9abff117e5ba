import torch
from torch.nn.functional import normalize

torch.manual_seed(7)


class Index:
    def __init__(self, dim):
        self.dim = dim
        self.vecs = torch.empty(0, dim)
        self.deleted = torch.empty(0, dtype=torch.bool)

    def add(self, v):
        self.vecs = torch.cat([self.vecs, normalize(v, dim=-1)])
        self.deleted = torch.cat([self.deleted, torch.zeros(len(v), dtype=torch.bool)])

    def remove(self, ids):
        self.deleted[ids] = True

    @property
    def ntotal(self):
        return self.vecs.shape[0]

    def search(self, q, k=5):
        k = min(k, self.ntotal)
        scores = normalize(q, dim=-1) @ self.vecs.T
        scores = scores.masked_fill(self.deleted, -1e9)
        return scores.topk(k, dim=-1)


def rerank(q, docs, mask):
    sim = torch.einsum("qd,knd->kqn", q, docs)
    sim = sim.masked_fill(~mask[:, None, :], -1e4)
    return sim.max(-1).values.sum(-1)


def threshold_hits(scores, ids, thr):
    good = scores > thr
    return ids[good], scores[good]  # breaks


def dedup(ids):
    return torch.unique(ids)  # breaks


index = Index(6)
search = torch.compile(index.search, backend="eager")
rerank = torch.compile(rerank, backend="eager")


@torch.compile(backend="eager")
def pipeline(q):
    s, ids = index.search(q, 4)
    ids, s = threshold_hits(s, ids, 0.1)
    ids = dedup(ids)
    return ids.numpy()


index.add(torch.randn(20, 6))
index.remove([1, 2])
s, i = search(torch.randn(3, 6), 4)
r = rerank(torch.randn(3, 6), torch.randn(4, 5, 6), torch.ones(4, 5, dtype=torch.bool))
found = pipeline(torch.randn(3, 6))
print(i.tolist(), r.argsort(descending=True).tolist(), found)
