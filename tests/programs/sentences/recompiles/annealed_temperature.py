"""Logits are sampled at a temperature that falls with each round."""

import torch


@torch.compile(backend="aot_eager")
def sharpen(logits, temperature: float, floor: float):
    probs = torch.softmax(logits / temperature, dim=-1)
    return probs.clamp(min=floor)


torch.manual_seed(0)
logits = torch.randn(2, 5)
temperature = 2.0
for round_of in range(5):
    probs = sharpen(logits, temperature, 1e-4)
    print(round_of, probs.max().item())
    temperature *= 0.8

# function: sharpen
# compiles: 2
# over: yes
# next: sharpen(logits, 0.33, 1e-4)
# remedy: 16 -> probs = sharpen(logits, torch.tensor(temperature), 1e-4)   -> compiles 1
# remedy: 6 -> @torch.compile(backend="aot_eager", dynamic=True)   -> compiles 1
# remedy: 16 -> probs = sharpen(logits / temperature, 1.0, 1e-4)   -> compiles 1
# remedy: +6 -> torch._dynamo.config.specialize_float = True   -> compiles 5
