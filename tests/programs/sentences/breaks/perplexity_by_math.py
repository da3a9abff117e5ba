"""Perplexity of a batch with functions of the math module on tensors."""

import math

import torch
from torch.nn import functional as F


@torch.compile
def perplexity(logits: torch.Tensor, labels: torch.Tensor, base: float) -> tuple[torch.Tensor, float]:
    loss = F.cross_entropy(logits, labels)
    bits = loss / math.log(base)
    return loss * 0.5, base ** math.floor(bits * 8)


torch.manual_seed(0)
for base in (2.0, 2.0, 10.0):
    half, value = perplexity(torch.randn(4, 5), torch.randint(0, 5, (4,)), base)
    print(base, round(half.item(), 4), float(value))
# breaks: 13
# compiles: 2
# remedy: 13 -> return loss * 0.5, base ** torch.floor(bits * 8) -> breaks none
