import random

import torch
import torch.nn as nn

PAD, BOS, EOS = 0, 1, 2


class Encoder(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.emb = nn.Embedding(n, d, padding_idx=PAD)
        self.rnn = nn.GRU(d, d, batch_first=True)

    def forward(self, src):
        mask = src != PAD
        max_len = mask.sum(1).max().item()  # breaks
        src = src[:, :max_len]
        out, h = self.rnn(self.emb(src))  # breaks
        return out, h, mask[:, :max_len]


class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w = nn.Linear(2 * d, d)
        self.v = nn.Linear(d, 1, bias=False)

    def forward(self, q, mem, mask):
        q = q.unsqueeze(1).expand_as(mem)
        s = self.v(torch.tanh(self.w(torch.cat([q, mem], -1)))).squeeze(-1)
        a = s.masked_fill(~mask, -1e9).softmax(-1)
        return torch.bmm(a.unsqueeze(1), mem).squeeze(1), a


class Decoder(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.emb = nn.Embedding(n, d, padding_idx=PAD)
        self.attn = Attention(d)
        self.cell = nn.GRUCell(2 * d, d)
        self.out = nn.Linear(d, n)
        self.alignments = []

    def step(self, tok, h, mem, mask):
        ctx, a = self.attn(h, mem, mask)
        if not self.training:
            self.alignments.append(a.detach().numpy())
        h = self.cell(torch.cat([self.emb(tok), ctx], -1), h)
        return self.out(h), h

    def forward(self, tgt, h, mem, mask, teacher_forcing=1.0):
        logits = []
        tok = tgt[:, 0]
        for t in range(1, tgt.size(1)):
            lg, h = self.step(tok, h, mem, mask)
            logits.append(lg)
            tok = tgt[:, t] if random.random() < teacher_forcing else lg.argmax(-1)  # breaks
        return torch.stack(logits, 1)

    def greedy(self, h, mem, mask, max_len=4):
        tok = torch.full((mem.size(0),), BOS)
        out = []
        for _ in range(max_len):
            lg, h = self.step(tok, h, mem, mask)
            tok = lg.argmax(-1)
            out.append(tok)
            if (tok == EOS).all():  # breaks
                break
        return torch.stack(out, 1)


class Seq2Seq(nn.Module):
    def __init__(self, n=20, d=8):
        super().__init__()
        self.encoder = torch.compile(Encoder(n, d), backend="eager")
        self.decoder = Decoder(n, d)
        self.decoder.forward = torch.compile(self.decoder.forward, backend="eager")
        self.decoder.greedy = torch.compile(self.decoder.greedy, backend="eager")

    def forward(self, src, tgt):
        mem, h, mask = self.encoder(src)
        if self.training:
            return self.decoder(tgt, h[0], mem, mask, 0.5)
        return self.decoder.greedy(h[0], mem, mask)


torch.manual_seed(0)
net = Seq2Seq()
src = torch.tensor([[4, 5, 6, 7, 0], [8, 9, 0, 0, 0]])
tgt = torch.tensor([[1, 4, 5, 2], [1, 6, 2, 0]])
print(net(src, tgt).shape)
print(net.eval()(src, None).shape, len(net.decoder.alignments))
