# gpt-fast flavoured decoding loop, toy sized
from typing import Optional, Tuple

import torch
from torch import Tensor, nn


class KVCache(nn.Module):
    def __init__(self, max_len: int, n_heads: int, head_dim: int):
        super().__init__()
        shape = (1, n_heads, max_len, head_dim)
        self.register_buffer("k_cache", torch.zeros(shape))
        self.register_buffer("v_cache", torch.zeros(shape))
        self.max_len = max_len

    def update(self, input_pos: Tensor, k: Tensor, v: Tensor) -> Tuple[Tensor, Tensor]:
        last = int(input_pos[-1])  # breaks
        if last >= self.max_len:
            raise ValueError(f"cache overflow at {last}")
        self.k_cache[:, :, input_pos] = k
        self.v_cache[:, :, input_pos] = v
        return self.k_cache, self.v_cache


class TinyLM(nn.Module):
    def __init__(self, vocab: int = 40, dim: int = 16, heads: int = 2):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, vocab)
        self.heads, self.dim = heads, dim
        self.cache: Optional[KVCache] = None

    def setup_caches(self, max_len: int) -> None:
        self.cache = KVCache(max_len, self.heads, self.dim // self.heads)

    def forward(self, ids: Tensor, input_pos: Tensor) -> Tensor:
        B, T = ids.shape
        q, k, v = self.qkv(self.tok(ids)).view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        k, v = self.cache.update(input_pos, k, v)
        mask = torch.arange(k.shape[2])[None, :] <= input_pos[:, None]
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out(y.transpose(1, 2).reshape(B, T, self.dim))


def logits_to_probs(logits, temperature: float = 1.0, top_k: Optional[int] = None):
    logits = logits / max(temperature, 1e-5)
    if top_k is not None:
        v, _ = torch.topk(logits, min(top_k, logits.size(-1)))
        logits = torch.where(logits < v.select(-1, -1).unsqueeze(-1), -float("Inf"), logits)
    probs = torch.softmax(logits, dim=-1)
    if torch.isnan(probs).any():  # breaks
        probs = torch.ones_like(probs) / probs.shape[-1]
    return probs


def sample(logits, **kw):
    probs = logits_to_probs(logits[0, -1], **kw)
    q = torch.empty_like(probs).exponential_(1)
    return torch.argmax(probs / q, dim=-1, keepdim=True), probs


def prefill(model, x, pos, **sampling):
    return sample(model(x, pos), **sampling)[0]


def decode_one_token(model, x, pos, **sampling):
    assert pos.shape[-1] == 1
    return sample(model(x, pos), **sampling)


@torch.no_grad()
def generate(model, prompt, n_new, callback=lambda _: None):
    T = prompt.size(0)
    model.setup_caches(T + n_new)
    nxt = prefill(model, prompt.view(1, -1), torch.arange(T), temperature=0.8, top_k=5)
    out = [nxt]
    pos = torch.tensor([T])
    for _ in range(n_new - 1):
        nxt, _p = decode_one_token(model, nxt.view(1, -1), pos, temperature=0.8, top_k=5)
        pos += 1
        out.append(nxt.clone())
        callback(nxt.item())
    return torch.cat(out)


if __name__ == "__main__":
    torch.manual_seed(0)
    decode_one_token = torch.compile(decode_one_token, backend="eager")
    seen = []
    y = generate(TinyLM().eval(), torch.tensor([3, 1, 4]), 4, callback=seen.append)
    print("tokens", y.tolist(), seen)
