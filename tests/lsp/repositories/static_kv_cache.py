import torch
import torch.nn as nn
import torch.nn.functional as F


class KVCache(nn.Module):
    def __init__(self, b, h, max_len, d):
        super().__init__()
        self.register_buffer("k", torch.zeros(b, h, max_len, d))
        self.register_buffer("v", torch.zeros(b, h, max_len, d))

    def update(self, pos, k, v):
        assert pos.shape[0] == k.shape[2]
        self.k[:, :, pos] = k
        self.v[:, :, pos] = v
        return self.k, self.v


def rope(x, pos, base=10000.0):
    d = x.size(-1) // 2
    inv = 1.0 / (base ** (torch.arange(d) / d))
    ang = pos[:, None].float() * inv[None]
    cos, sin = ang.cos(), ang.sin()
    a, b = x[..., :d], x[..., d:]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


class Attention(nn.Module):
    def __init__(self, dim, n_head):
        super().__init__()
        self.n_head = n_head
        self.wqkv, self.wo = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.cache = None

    def forward(self, x, pos, mask):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, self.n_head, -1).transpose(1, 2) for t in self.wqkv(x).chunk(3, -1))
        q, k = rope(q, pos), rope(k, pos)
        if self.cache is not None:
            k, v = self.cache.update(pos, k, v)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.wo(y.transpose(1, 2).reshape(B, T, C))


class Model(nn.Module):
    def __init__(self, vocab=16, dim=8, n_layer=2, max_len=12):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList([Attention(dim, 2) for _ in range(n_layer)])
        self.head = nn.Linear(dim, vocab)
        self.max_len = max_len
        self.register_buffer("causal", torch.tril(torch.ones(max_len, max_len, dtype=torch.bool)))

    def setup(self, b):
        for l in self.layers:
            l.cache = KVCache(b, 2, self.max_len, 4)

    def forward(self, ids, pos):
        mask = self.causal[pos][None, None]
        x = self.emb(ids)
        for l in self.layers:
            x = x + l(x, pos, mask)
        return self.head(x)


def prefill(model, ids, pos):
    return model(ids, pos)[:, -1].argmax(-1, keepdim=True)


def decode_one(model, tok, pos):
    return model(tok, pos)[:, -1].argmax(-1, keepdim=True)


prefill = torch.compile(prefill, backend="eager", dynamic=True)
decode_one = torch.compile(decode_one, backend="eager", fullgraph=True)

with torch.no_grad():
    m = Model().eval()
    m.setup(1)
    ids = torch.tensor([[1, 2, 3]])
    tok = prefill(m, ids, torch.arange(3))
    out, pos = [tok.item()], torch.tensor([3])
    for _ in range(3):
        tok = decode_one(m, tok, pos)
        pos = pos + 1
        out.append(tok.item())
        if out[-1] == 0:
            break
print(out)
