import re
from collections import Counter

import torch
import torch.nn as nn

TOKEN = re.compile(r"\w+|[^\w\s]")


class Vocab:
    def __init__(self, texts, min_freq=1):
        counts = Counter(t for s in texts for t in self.tokenize(s))
        self.itos = ["<pad>", "<unk>"] + [w for w, c in counts.most_common() if c >= min_freq]
        self.stoi = {w: i for i, w in enumerate(self.itos)}

    @staticmethod
    def tokenize(s):
        return TOKEN.findall(s.lower())

    def encode(self, s, n=8):
        ids = [self.stoi.get(t, 1) for t in self.tokenize(s)][:n]
        return ids + [0] * (n - len(ids))

    def decode(self, ids):
        return " ".join(self.itos[i] for i in ids if i > 0)


class TextCNN(nn.Module):
    def __init__(self, n, labels, d=8):
        super().__init__()
        self.emb = nn.Embedding(n, d)
        self.convs = nn.ModuleList([nn.Conv1d(d, 6, k, padding=k // 2) for k in (1, 3, 5)])
        self.fc = nn.Linear(18, len(labels))
        self.labels = labels

    def forward(self, ids):
        e = self.emb(ids).mT
        return self.fc(torch.cat([c(e).relu().amax(-1) for c in self.convs], -1))


class Pipeline:
    def __init__(self, model, vocab, threshold=0.2):
        self.model, self.vocab, self.threshold = model.eval(), vocab, threshold

    def __call__(self, texts):
        ids = torch.tensor([self.vocab.encode(t) for t in texts])
        return self._predict(ids)

    @torch.no_grad()
    def _predict(self, ids):
        raise NotImplementedError


class CompiledPipeline(Pipeline):
    @torch.no_grad()
    @torch.compile(backend="eager")
    def _predict(self, ids):
        probs = self.model(ids).softmax(-1)
        conf, best = probs.max(-1)
        return [self._format(*row) for row in zip(ids, conf, best)]

    def _format(self, ids, conf, best):
        label = self.model.labels[best.item()]  # breaks
        if conf < self.threshold:  # breaks
            label = "other"
        text = self.vocab.decode(ids.tolist())  # breaks
        return {"text": text, "label": label, "p": round(float(conf), 3)}  # breaks


if __name__ == "__main__":
    torch.manual_seed(0)
    texts = ["great movie, loved it!", "what a waste of time", "it was ok"]
    vocab = Vocab(texts)
    pipe = CompiledPipeline(TextCNN(len(vocab.itos), ("neg", "neu", "pos")), vocab)
    for r in pipe(texts):
        print(r)
