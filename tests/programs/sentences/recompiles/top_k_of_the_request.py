"""A sampler keeps the best k tokens, and k comes with the request."""

import torch


@torch.compile
def candidates(logits, k, temperature):
    values, indices = torch.topk(logits / temperature, k)
    return torch.softmax(values, dim=-1), indices


torch.manual_seed(0)
logits = torch.randn(12)
requests = [(3, 0.7), (5, 0.7), (4, 1.0), (7, 0.9), (5, 1.3)]
for k, temperature in requests:
    probs, indices = candidates(logits, k, temperature)
    print(k, probs[0].item(), indices.tolist())

# function: candidates
# compiles: 3
# over: yes
# next: candidates(logits, 6, 1.1)
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 1
# remedy: 16 -> probs, indices = candidates(logits / temperature, k, 1.0)   -> compiles 2
# remedy: 16 -> probs, indices = candidates(logits, k, torch.tensor(temperature))   -> compiles 2
# remedy: +6 -> torch._dynamo.config.specialize_float = True   -> compiles 5
