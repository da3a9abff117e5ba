import heapq
import numpy as np
import torch
import torch.nn as nn


class MeanPool(nn.Module):
    def forward(self, h, mask):
        m = mask.unsqueeze(-1).to(h.dtype)
        return (h * m).sum(1) / m.sum(1).clamp(min=1e-9)


class CLSPool(nn.Module):
    def forward(self, h, mask):
        return h[:, 0]


POOLERS = {"mean": MeanPool, "cls": CLSPool}


class BiEncoder(nn.Module):
    def __init__(self, vocab=100, dim=16, pooling="mean"):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        layer = nn.TransformerEncoderLayer(dim, 2, 32, batch_first=True, dropout=0.0)
        self.enc = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.pool = POOLERS[pooling]()

    def forward(self, ids):
        mask = ids.ne(0)
        h = self.enc(self.emb(ids), src_key_padding_mask=~mask)
        return nn.functional.normalize(self.pool(h, mask), dim=-1)


class Index:
    """ brute force index, vectors on the host as numpy """

    def __init__(self, dim):
        self.vecs = np.zeros((0, dim), dtype=np.float32)
        self.ids = []

    def add(self, ids, v):
        self.vecs = np.concatenate([self.vecs, v.numpy()])
        self.ids.extend(ids)

    def search(self, q, k):
        scores = torch.as_tensor(self.vecs) @ q
        best = heapq.nlargest(k, enumerate(scores.tolist()), key=lambda p: p[1])  # breaks
        return [(self.ids[i], s) for i, s in best]


class Retriever(object):
    def __init__(self, model):
        self.model = model.eval()
        self.index = Index(16)

    @torch.no_grad()
    def fit(self, docs):
        encode = torch.compile(self.model, backend="eager")
        for i in range(0, len(docs), 4):
            chunk = docs[i:i + 4]
            self.index.add(list(range(i, i + len(chunk))), encode(chunk))

    def _query(self, ids, k, min_score):
        q = self.model(ids)
        hits = []
        for row in q:
            hits.append([h for h in self.index.search(row, k) if h[1] >= min_score])
        return hits

    def query(self, ids, k=3, min_score=-1.0):
        fn = torch.compile(self._query, backend="eager")
        with torch.no_grad():
            return fn(ids, k, min_score)


torch.manual_seed(0)
r = Retriever(BiEncoder())
r.fit(torch.randint(1, 100, (8, 5)))
print([len(h) for h in r.query(torch.randint(0, 100, (2, 5)))])
