import torch
from torch import nn


class TinyGPT(nn.Module):
    def __init__(self, vocab=16, d=8, block=8):
        super().__init__()
        self.block_size = block
        self.wte = nn.Embedding(vocab, d)
        self.wpe = nn.Embedding(block, d)
        self.blocks = nn.ModuleList([nn.TransformerEncoderLayer(d, 2, 16, batch_first=True) for _ in range(2)])
        self.lm_head = nn.Linear(d, vocab, bias=False)

    def forward(self, idx, targets=None):
        b, t = idx.size()
        assert t <= self.block_size, f"cannot forward sequence of length {t}"
        x = self.wte(idx) + self.wpe(torch.arange(t))
        for block in self.blocks:
            x = block(x)
        logits = self.lm_head(x)
        loss = None
        if targets is not None:
            loss = nn.functional.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)
        return logits, loss

    @torch.no_grad()
    def generate(self, idx, n, temperature=1.0, top_k=None, stop=None):
        for _ in range(n):
            cond = idx if idx.size(1) <= self.block_size else idx[:, -self.block_size :]
            logits, _ = self(cond)
            logits = logits[:, -1] / temperature
            if top_k is not None:
                v, _ = torch.topk(logits, top_k)
                logits[logits < v[:, [-1]]] = -float("inf")
            nxt = torch.multinomial(logits.softmax(-1), 1)
            if stop is not None and nxt.item() == stop:  # breaks
                break
            idx = torch.cat((idx, nxt), 1)
        return idx


gpt = TinyGPT().eval()
step = torch.compile(gpt, backend="eager")
step(torch.randint(0, 16, (2, 4)), torch.randint(0, 16, (2, 4)))
generate = torch.compile(gpt.generate, backend="eager")
generate(torch.randint(0, 16, (1, 2)), 2, top_k=3, stop=1)
