"""Compiles a function for every size, and prints what all calls gave."""

import torch

torch._dynamo.config.recompile_limit = 1000
torch._dynamo.config.accumulated_recompile_limit = 1000


def called(x, n):
    product = x * n  #: called
    return product + 1


@torch.compile(backend="eager", dynamic=False)
def compiled(x):
    y = x + 1  #: begins
    z = called(y, 3)  #: calls
    w = z.sin()
    return w.sum()


total = 0.0
for size in range(2, 42):
    total += float(compiled(torch.arange(size, dtype=torch.float32)))
    ran = size  #: runs
print(total, torch._dynamo.utils.counters["stats"]["unique_graphs"], flush=True)
