"""A module keeps the keys of past batches, up to a bound."""

import torch
from torch import nn


class MemoryBank(nn.Module):
    def __init__(self, width, most):
        super().__init__()
        self.most = most
        self.keys = torch.zeros(2, width)

    def forward(self, queries):
        best = (queries @ self.keys.t()).amax(dim=1)
        self.keys = torch.cat([self.keys, queries.detach()])[-self.most :]
        return best


torch.manual_seed(0)
bank = MemoryBank(4, 64)
lookup = torch.compile(bank)
for _ in range(5):
    queries = torch.randn(3, 4)
    print(len(bank.keys), lookup(queries).sum().item())

# function: MemoryBank.forward
# compiles: 2
# over: yes
# next: lookup(queries)
# remedy: +24 -> torch._dynamo.maybe_mark_dynamic(bank.keys, 0)   -> compiles 1
# remedy: 21 -> lookup = torch.compile(bank, dynamic=True)   -> compiles 1
# remedy: +21 -> torch._dynamo.config.force_nn_module_property_static_shapes = False   -> compiles 2
# remedy: +21 -> torch._dynamo.config.recompile_limit = 64   -> compiles 2
