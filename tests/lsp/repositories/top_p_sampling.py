import torch
import torch.nn.functional as F
from dataclasses import dataclass
from typing import Optional


@dataclass
class SamplingParams:
    temperature: float = 0.8
    top_k: Optional[int] = 5
    top_p: Optional[float] = 0.9
    repetition_penalty: float = 1.1


def apply_penalty(logits, prev, penalty):
    score = torch.gather(logits, -1, prev)
    score = torch.where(score < 0, score * penalty, score / penalty)
    return logits.scatter(-1, prev, score)


def filter_top_k(logits, k):
    v, _ = torch.topk(logits, min(k, logits.size(-1)))
    return logits.masked_fill(logits < v[..., -1:], -float("inf"))


def filter_top_p(logits, p):
    s, idx = logits.sort(descending=True)
    cum = s.softmax(-1).cumsum(-1)
    remove = cum > p
    remove[..., 1:] = remove[..., :-1].clone()
    remove[..., 0] = False
    return logits.masked_fill(remove.scatter(-1, idx, remove), -float("inf"))


def sample(logits, prev, sp: SamplingParams):
    if sp.repetition_penalty != 1.0:
        logits = apply_penalty(logits, prev, sp.repetition_penalty)
    if sp.temperature == 0:
        return logits.argmax(-1, keepdim=True)
    logits = logits / sp.temperature
    if sp.top_k is not None:
        logits = filter_top_k(logits, sp.top_k)
    if sp.top_p is not None:
        logits = filter_top_p(logits, sp.top_p)
    probs = F.softmax(logits, dim=-1)
    if (probs < 0).any() or torch.isnan(probs).any():  # breaks
        raise ValueError("invalid probabilities")
    return torch.multinomial(probs, 1)


sample_compiled = torch.compile(sample, backend="eager")


def min_p_allowed(logits, min_p):
    p = logits.softmax(-1)
    return (p >= min_p * p.max()).nonzero().flatten().tolist()  # breaks


allowed = torch.compile(min_p_allowed, backend="eager")

if __name__ == "__main__":
    torch.manual_seed(0)
    seq = torch.randint(0, 16, (2, 3))
    for _ in range(2):
        nxt = sample_compiled(torch.randn(2, 16), seq, SamplingParams())
        seq = torch.cat([seq, nxt], 1)
    print(seq.tolist())
    print(allowed(torch.randn(16), 0.3))
