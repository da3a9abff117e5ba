import math

import torch


@torch.compile(backend="eager", fullgraph=True)
def scaled(q, k):
    n = q.shape[-1]
    return (q @ k.T) / math.sqrt(n) * n**-0.5


torch.manual_seed(0)
torch.set_printoptions(precision=10)
for n in (3, 5, 7, 11):
    print(scaled(torch.randn(2, n), torch.randn(2, n)))
