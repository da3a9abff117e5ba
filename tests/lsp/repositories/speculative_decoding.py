import torch
import torch.nn as nn
from typing import Tuple


class TinyLM(nn.Module):
    def __init__(self, vocab: int, dim: int, depth: int) -> None:
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.mix = nn.ModuleList([nn.Linear(dim, dim) for _ in range(depth)])
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.emb(ids).cumsum(1)
        for m in self.mix:
            x = x + torch.tanh(m(x))
        return self.head(x)


def logits_to_probs(logits: torch.Tensor, temperature: float = 1.0) -> torch.Tensor:
    return torch.softmax(logits / max(temperature, 1e-5), dim=-1)


def sample_no_sync(probs: torch.Tensor) -> torch.Tensor:
    q = torch.empty_like(probs).exponential_(1)
    return torch.argmax(probs / q, dim=-1, keepdim=True)


def draft_tokens(draft: nn.Module, ids: torch.Tensor, k: int) -> Tuple[torch.Tensor, torch.Tensor]:
    ps = []
    for _ in range(k):
        p = logits_to_probs(draft(ids)[:, -1])
        ps.append(p)
        ids = torch.cat([ids, sample_no_sync(p)], dim=1)
    return ids, torch.stack(ps, 1)


def verify(target: nn.Module, ids: torch.Tensor, draft_p: torch.Tensor, k: int) -> torch.Tensor:
    p = logits_to_probs(target(ids))[:, -k - 1 : -1]
    toks = ids[:, -k:]
    pt = p.gather(-1, toks[..., None]).squeeze(-1)
    qt = draft_p.gather(-1, toks[..., None]).squeeze(-1)
    accept = torch.rand_like(pt) <= (pt / qt).clamp(max=1)
    n_accept = int(accept.long().cumprod(1).sum())  # breaks
    if n_accept == k:
        return ids
    prefix = ids[:, : ids.size(1) - k + n_accept]
    resid = (p[:, n_accept] - draft_p[:, n_accept]).clamp(min=0)
    resid = resid / resid.sum()
    return torch.cat([prefix, sample_no_sync(resid)], dim=1)


draft_c = torch.compile(draft_tokens, backend="eager", dynamic=True)
verify_c = torch.compile(verify, backend="eager", dynamic=True)


@torch.inference_mode()
def main() -> None:
    torch.manual_seed(3)
    target, draft = TinyLM(8, 6, 2), TinyLM(8, 6, 1)
    ids = torch.tensor([[1, 2]])
    while ids.size(1) < 7:
        cand, dp = draft_c(draft, ids, 2)
        ids = verify_c(target, cand, dp, 2)
    print(ids.tolist())


if __name__ == "__main__":
    main()
