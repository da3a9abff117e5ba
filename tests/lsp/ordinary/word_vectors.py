import torch
from torch import nn


class SkipGram(nn.Module):
    def __init__(self, vocab=20, d=4):
        super().__init__()
        self.center = nn.Embedding(vocab, d)
        self.context = nn.Embedding(vocab, d)

    def forward(self, c, o, negatives):
        vc, vo = self.center(c), self.context(o)
        pos = torch.nn.functional.logsigmoid((vc * vo).sum(-1))
        neg = torch.nn.functional.logsigmoid(-torch.bmm(self.context(negatives), vc.unsqueeze(-1)).squeeze(-1))
        return -(pos + neg.sum(-1)).mean()

    def nearest(self, word, k=3):
        w = self.center.weight
        v = w[word]
        sim = nn.functional.cosine_similarity(w, v.unsqueeze(0))
        best = sim.topk(k + 1).indices[1:]
        return [(int(i), float(sim[i])) for i in best]  # breaks


model = SkipGram()
loss = torch.compile(model, backend="eager")
loss(torch.tensor([1, 2]), torch.tensor([3, 4]), torch.randint(0, 20, (2, 5))).backward()
nearest = torch.compile(model.nearest, backend="eager")
with torch.no_grad():
    nearest(3)
