import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence


class CharEncoder(nn.Module):
    def __init__(self, n_chars, dim):
        super(CharEncoder, self).__init__()
        self.embed = nn.Embedding(n_chars, dim, padding_idx=0)
        self.conv = nn.Conv1d(dim, dim, 3, padding=1)

    def forward(self, chars):
        b, t, c = chars.shape
        e = self.embed(chars.view(b * t, c)).transpose(1, 2)
        return self.conv(e).max(-1)[0].view(b, t, -1)


class Tagger(nn.Module):
    def __init__(self, n_words=50, n_chars=20, n_tags=5, dim=12):
        super(Tagger, self).__init__()
        self.words = nn.Embedding(n_words, dim, padding_idx=0)
        self.chars = CharEncoder(n_chars, 6)
        self.rnn = nn.LSTM(dim + 6, 10, batch_first=True, bidirectional=True)
        self.out = nn.Linear(20, n_tags)

    def forward(self, words, chars):
        lengths = (words != 0).sum(1)
        x = torch.cat([self.words(words), self.chars(chars)], -1)
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)  # breaks
        h, _ = self.rnn(packed)  # breaks
        h, _ = pad_packed_sequence(h, batch_first=True)
        return self.out(h), lengths


def masked_nll(logits, tags, lengths):
    total = 0.0
    for i, n in enumerate(lengths.tolist()):  # breaks
        total = total + nn.functional.cross_entropy(logits[i, :n], tags[i, :n])
    return total / len(lengths)


def make_batch():
    seqs = [torch.randint(1, 50, (n,)) for n in (7, 4, 5)]
    words = pad_sequence(seqs, batch_first=True)
    chars = torch.randint(1, 20, (3, 7, 6))
    tags = torch.randint(0, 5, (3, 7))
    return words, chars, tags


if __name__ == "__main__":
    torch.manual_seed(3)
    model = Tagger()
    fast = torch.compile(model, backend="eager")
    crit = torch.compile(masked_nll, backend="eager")
    w, c, y = make_batch()
    for epoch in range(2):
        logits, lens = fast(w, c)
        loss = crit(logits, y, lens)
        loss.backward()
        print("epoch", epoch, float(loss))
