"""A module counts its steps in an attribute, for a warm-up, and batches have several sizes."""

import torch
from torch import nn


class WarmUp(nn.Module):
    def __init__(self):
        super().__init__()
        self.projection = nn.Linear(16, 16)
        self.step = 0

    def forward(self, x):
        return self.projection(x) * (1.0 / (1 + self.step))


torch.manual_seed(0)
module = WarmUp()
compiled = torch.compile(module)
for step, size in enumerate([8, 12, 20, 28]):
    module.step = step
    batch = torch.randn(size, 16)
    print(compiled(batch).sum().item())

# function: WarmUp.forward
# compiles: 4
# over: no
# next: setattr(module, "step", 9) or compiled(torch.randn(36, 16))
# remedy: +17 -> torch._dynamo.config.allow_unspec_int_on_nn_module = True && 19 -> compiled = torch.compile(module, dynamic=True)   -> compiles 1
# remedy: +17 -> torch._dynamo.config.allow_unspec_int_on_nn_module = True   -> compiles 2
# remedy: 23 -> torch._dynamo.maybe_mark_dynamic(batch, 0); print(compiled(batch).sum().item())   -> compiles 4
