import torch
import torch.nn as nn

VOCAB = "_abcdefg"


def collapse(ids, blank=0):
    ids = torch.unique_consecutive(ids)  # breaks
    return ids[ids != blank]  # breaks


def to_text(ids):
    return "".join(VOCAB[i] for i in ids.tolist())  # breaks


class ConvASR(nn.Module):
    def __init__(self, feat=8, hid=12, n_vocab=len(VOCAB)):
        super().__init__()
        convs = [nn.Conv1d(feat, hid, 3, padding=1)]
        for _ in range(2):
            convs.append(nn.Conv1d(hid, hid, 3, padding=1))
        self.convs = nn.Sequential(*convs)
        self.out = nn.Conv1d(hid, n_vocab, 1)

    def lengths(self, n):
        return torch.div(n, 1, rounding_mode="floor")

    def forward(self, feats, n):
        h = torch.relu(self.convs(feats))
        logp = self.out(h).log_softmax(1).permute(2, 0, 1)
        return logp, self.lengths(n)


class GreedyCTC:
    def __init__(self, model):
        self.model = model

    @torch.compile(backend="eager")
    def __call__(self, feats, n):
        logp, n = self.model(feats, n)
        best = logp.argmax(-1).t()
        texts = []
        for row, length in zip(best, n):
            hyp = collapse(row[:length])  # breaks
            texts.append(to_text(hyp))
        return texts


def ctc_loss(model, feats, n, tgt, tgt_n):
    logp, n = model(feats, n)
    return nn.functional.ctc_loss(logp, tgt, n, tgt_n, zero_infinity=True)  # breaks


def edit_distance(a, b):
    prev = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        cur = [i]
        for j, cb in enumerate(b, 1):
            cur.append(min(prev[j] + 1, cur[-1] + 1, prev[j - 1] + (ca != cb)))
        prev = cur
    return prev[-1]


torch.manual_seed(0)
model = ConvASR()
loss_fn = torch.compile(ctc_loss, backend="eager")
feats, n = torch.randn(2, 8, 10), torch.tensor([10, 7])
loss = loss_fn(model, feats, n, torch.randint(1, 8, (2, 3)), torch.tensor([3, 2]))
loss.backward()
texts = GreedyCTC(model)(feats, n)
print(texts, [edit_distance(t, "abc") for t in texts])
