"""A clipped update takes another path while the rate is large."""

import torch


@torch.compile(backend="aot_eager")
def update(weights, gradient, rate: float):
    clipped = gradient / gradient.norm().clamp(min=1.0)
    gradient = clipped if rate > 0.25 else gradient
    return weights - rate * gradient


torch.manual_seed(0)
weights = torch.randn(5)
for rate in (0.5, 0.4, 0.3, 0.2, 0.1):
    weights = update(weights, weights.cos(), rate)
    print(rate, weights.sum().item())

# function: update
# compiles: 3
# over: yes
# next: update(weights, weights.cos(), 0.05)
# remedy: 9 -> gradient = torch.where(rate > 0.25, clipped, gradient) && 16 -> weights = update(weights, weights.cos(), torch.tensor(rate))   -> compiles 1
# remedy: 6 -> @torch.compile(backend="aot_eager", dynamic=True)   -> compiles 2
# remedy: +6 -> torch._dynamo.config.specialize_float = True   -> compiles 5
