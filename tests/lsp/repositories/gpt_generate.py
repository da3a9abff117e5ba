"""Tiny GPT with a static kv cache and a compiled one-token decoder."""
import math
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class GPTConfig:
    vocab_size: int = 61
    block_size: int = 32
    n_layer: int = 2
    n_head: int = 2
    n_embd: int = 16
    eos_id: int = 3


class KVCache(nn.Module):
    def __init__(self, cfg, batch):
        super().__init__()
        shape = (batch, cfg.n_head, cfg.block_size, cfg.n_embd // cfg.n_head)
        self.register_buffer("k", torch.zeros(shape))
        self.register_buffer("v", torch.zeros(shape))

    def update(self, pos, k, v):
        self.k[:, :, pos] = k
        self.v[:, :, pos] = v
        end = int(pos[-1]) + 1  # breaks
        return self.k[:, :, :end], self.v[:, :, :end]


class Attention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.n_head = cfg.n_head
        self.qkv = nn.Linear(cfg.n_embd, 3 * cfg.n_embd, bias=False)
        self.proj = nn.Linear(cfg.n_embd, cfg.n_embd, bias=False)
        self.cache = None

    def forward(self, x, pos):
        B, T, C = x.shape
        q, k, v = [t.view(B, T, self.n_head, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1)]
        if self.cache is not None:
            k, v = self.cache.update(pos, k, v)
        att = (q @ k.transpose(-2, -1)) / math.sqrt(q.size(-1))
        y = att.softmax(-1) @ v
        return self.proj(y.transpose(1, 2).reshape(B, T, C))


class Block(Attention):
    def forward(self, x, pos):
        return x + super().forward(F.layer_norm(x, x.shape[-1:]), pos)


class GPT(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.wte = nn.Embedding(cfg.vocab_size, cfg.n_embd)
        self.h = nn.ModuleList(Block(cfg) for _ in range(cfg.n_layer))
        self.head = nn.Linear(cfg.n_embd, cfg.vocab_size)

    def setup_cache(self, batch):
        for b in self.h:
            b.cache = KVCache(self.cfg, batch)

    def forward(self, idx, pos):
        x = self.wte(idx)
        for b in self.h:
            x = b(x, pos)
        return self.head(x)


def logits_to_probs(logits, temperature=1.0, top_k=None):
    logits = logits / max(temperature, 1e-5)
    if top_k is not None:
        v, _ = torch.topk(logits, min(top_k, logits.size(-1)))
        logits = torch.where(logits < v[..., -1:], float("-inf"), logits)
    return F.softmax(logits, dim=-1)


def decode_one_token(model, x, pos, **sampling):
    logits = model(x, pos)
    probs = logits_to_probs(logits[:, -1], **sampling)
    q = torch.empty_like(probs).exponential_(1)
    return torch.argmax(probs / q, dim=-1, keepdim=True)


@torch.no_grad()
def generate(model, prompt, n, **sampling):
    global decode_one_token
    decode_one_token = torch.compile(decode_one_token, backend="eager", dynamic=True)
    out, cur = [prompt], prompt
    pos = torch.arange(prompt.size(1))
    for _ in range(n):
        cur = decode_one_token(model, cur, pos, **sampling)
        out.append(cur)
        pos = pos[-1:] + 1
        if (cur == model.cfg.eos_id).all().item():
            break
    return torch.cat(out, 1)


if __name__ == "__main__":
    torch.manual_seed(0)
    m = GPT(GPTConfig()).eval()
    m.setup_cache(2)
    print(generate(m, torch.randint(4, 61, (2, 5)), 4, temperature=0.9, top_k=7).shape)
