"""A module counts its own calls to warm a gate up."""

import torch
from torch import nn


class WarmGate(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.calls = 0

    def forward(self, x, mask):
        self.calls += 1
        gate = min(self.calls, 100) / 100
        return self.proj(x) * gate + x.masked_fill(mask, 0.0)


torch.manual_seed(0)
gate = WarmGate(4)
compiled = torch.compile(gate)
x, mask = torch.randn(3, 4), torch.rand(3, 4) > 0.5
for _ in range(5):
    x = compiled(x, mask).detach()
print(x.sum().item(), int(gate.calls))

# function: WarmGate.forward
# compiles: 5
# over: no
# next: compiled(x, mask)
# remedy: 11 -> self.register_buffer("calls", torch.zeros((), dtype=torch.long)) && 15 -> gate = torch.clamp(self.calls, max=100) / 100   -> compiles 1
# remedy: +21 -> torch._dynamo.config.allow_unspec_int_on_nn_module = True   -> compiles 2
# remedy: 21 -> compiled = torch.compile(gate, dynamic=True)   -> compiles 5
