"""A model runs as many of its layers as the budget allows."""

import torch
from torch import nn


class EarlyExit(nn.Module):
    def __init__(self, depth, width):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.budget = depth

    def forward(self, x):
        for layer in self.layers[: self.budget]:
            x = torch.relu(layer(x)) + x
        return x


torch.manual_seed(0)
model = EarlyExit(5, 3)
fast = torch.compile(model, backend="aot_eager")
x = torch.randn(2, 3)
for budget in (1, 2, 3, 4):
    model.budget = budget
    print(budget, fast(x).sum().item())

# function: EarlyExit.forward
# compiles: 4
# over: no
# next: exec("model.budget = 5"), fast(x)
# remedy: 21 -> [each.compile(backend="aot_eager") for each in model.layers]; fast = model   -> compiles 0
# remedy: +21 -> torch._dynamo.config.allow_unspec_int_on_nn_module = True   -> compiles 4
# remedy: 21 -> fast = torch.compile(model, backend="aot_eager", dynamic=True)   -> compiles 4
