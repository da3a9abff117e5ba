import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence


class CharEncoder(nn.Module):
    def __init__(self, n_chars, dim):
        super().__init__()
        self.emb = nn.Embedding(n_chars, dim, padding_idx=0)
        self.cell = nn.LSTMCell(dim, dim)

    def forward(self, chars, lengths):
        B = chars.size(0)
        h = c = torch.zeros(B, self.emb.embedding_dim)
        max_len = lengths.max().item()  # breaks
        for t in range(max_len):
            h_new, c_new = self.cell(self.emb(chars[:, t]), (h, c))
            m = (t < lengths).unsqueeze(1)
            h = torch.where(m, h_new, h)
            c = torch.where(m, c_new, c)
        return h


class Tagger(nn.Module):
    def __init__(self, n_chars=20, dim=6, n_tags=4):
        super().__init__()
        self.enc = CharEncoder(n_chars, dim)
        self.proj = nn.Linear(dim, n_tags)
        self.log_probs = True

    def forward(self, chars, lengths):
        h = self.enc(chars, lengths)
        logits = self.proj(h)
        return logits.log_softmax(-1) if self.log_probs else logits


def masked_nll(logp, tags, lengths):
    total = 0.0
    for i, n in enumerate(lengths.tolist()):  # breaks
        total = total - logp[i, tags[i]] * n  # breaks
    return total / lengths.sum()


def train_step(model, opt, loss_fn, chars, lengths, tags):
    opt.zero_grad()
    loss = loss_fn(model(chars, lengths), tags, lengths)
    loss.backward()
    opt.step()
    return loss.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    words = [torch.randint(1, 20, (n,)) for n in (3, 5, 2)]
    lengths = torch.tensor([len(w) for w in words])
    chars = pad_sequence(words, batch_first=True)
    model = Tagger()
    optimizer = torch.optim.Adam(model.parameters())
    compiled = torch.compile(model, backend="eager")
    loss_fn = torch.compile(masked_nll, backend="eager")
    for epoch in range(2):
        l = train_step(compiled, optimizer, loss_fn, chars, lengths, torch.tensor([0, 1, 2]))
        print("epoch", epoch, "loss", round(l, 3))
