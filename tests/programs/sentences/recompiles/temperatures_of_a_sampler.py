"""A sampler that divides by its temperature, and is greedy at low ones; only high ones have been met."""

import torch


@torch.compile
def sampled(logits, temperature):
    if temperature > 0.1:
        return (logits / temperature).softmax(-1)
    return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).float()


for temperature in (0.7, 0.8, 0.9):
    print(round(sampled(torch.arange(5.0), temperature)[0].item(), 4))

# function: sampled
# compiles: 2
# over: no
# next: sampled(torch.arange(5.0), 0.05)
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 1
