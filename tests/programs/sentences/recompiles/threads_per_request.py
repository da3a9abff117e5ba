"""A server gives more threads to larger requests."""

import torch


@torch.compile(backend="aot_eager")
def score(batch, weight, bias):
    return torch.tanh(batch @ weight + bias).mean(dim=-1)


torch.manual_seed(0)
batch, weight, bias = torch.randn(4, 3), torch.randn(3, 2), torch.zeros(2)
for threads in (1, 2, 3, 1):
    torch.set_num_threads(threads)
    print(threads, score(batch, weight, bias).sum().item())

# function: score
# compiles: 3
# over: no
# next: torch.set_num_threads(4), score(batch, weight, bias)
# remedy: 14 -> torch.set_num_threads(2)   -> compiles 1
# remedy: 6 -> @torch.compile(backend="aot_eager", dynamic=True)   -> compiles 3
