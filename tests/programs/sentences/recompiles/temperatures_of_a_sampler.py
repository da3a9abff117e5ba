"""A sampler that divides by its temperature, and is greedy at low ones; only high ones have been met."""

import torch


@torch.compile
def sampled(logits, temperature):
    if temperature > 0.1:
        logits = logits / temperature
    else:
        logits = logits * 1e4
    return logits.softmax(-1)


for temperature in (0.7, 0.8, 0.9):
    print(round(sampled(torch.arange(5.0), temperature)[0].item(), 4))

# function: sampled
# compiles: 2
# over: no
# next: sampled(torch.arange(5.0), 0.05)
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 1
