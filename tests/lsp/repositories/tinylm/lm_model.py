import torch
import torch.nn as nn
import torch.nn.functional as F

from lm_data import document_ids, document_lengths


def rotary(x, base=100.0):
    d = x.shape[-1] // 2
    inv = base ** (-torch.arange(d) / d)
    ang = torch.arange(x.shape[-2])[:, None] * inv
    a, b = x.split(d, -1)
    return torch.cat([a * ang.cos() - b * ang.sin(), a * ang.sin() + b * ang.cos()], -1)


class Attention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.h = cfg.heads
        self.qkv = nn.Linear(cfg.dim, 3 * cfg.dim, bias=False)
        self.o = nn.Linear(cfg.dim, cfg.dim, bias=False)

    def forward(self, x, mask):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.h, -1)).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(rotary(q), rotary(k), v, attn_mask=mask)
        return self.o(y.transpose(1, 2).flatten(2))


class TinyLM(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.emb = nn.Embedding(cfg.vocab, cfg.dim)
        self.attn = nn.ModuleList(Attention(cfg) for _ in range(cfg.n_layer))
        self.head = nn.Linear(cfg.dim, cfg.vocab)
        self.max_doc = 0

    def build_mask(self, tok):
        doc = document_ids(tok, self.cfg.bos)
        if self.cfg.log_docs:
            lens = document_lengths(doc)
            self.max_doc = max(self.max_doc, max(max(l) for l in lens))
        same = doc[:, :, None] == doc[:, None]
        return (same & torch.ones_like(same).tril()).unsqueeze(1)

    def forward(self, tok, tgt):
        mask = self.build_mask(tok)
        x = self.emb(tok)
        for a in self.attn:
            x = x + a(F.rms_norm(x, x.shape[-1:]), mask)
        logits = self.head(x).flatten(0, 1)
        loss = F.cross_entropy(logits, tgt.flatten())
        z = logits.logsumexp(-1).square().mean()
        if self.cfg.z_loss > 0:
            loss = loss + self.cfg.z_loss * z
        if loss.item() > 20:  # breaks
            raise FloatingPointError("loss spike")
        return loss, {"z": z.detach()}
