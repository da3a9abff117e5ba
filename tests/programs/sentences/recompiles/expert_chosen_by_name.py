"""Requests say by name which head answers them."""

import torch
from torch import nn


class Heads(nn.Module):
    def __init__(self, names, width):
        super().__init__()
        self.trunk = nn.Linear(width, width)
        self.heads = nn.ModuleDict({name: nn.Linear(width, 2) for name in names})

    def forward(self, x, name):
        hidden = torch.relu(self.trunk(x))
        return self.heads[name](hidden)


torch.manual_seed(0)
model = Heads(["price", "rating", "spam", "topic", "toxicity"], 4)
answer = torch.compile(model)
x = torch.randn(2, 4)
with torch.no_grad():
    for name in ("price", "spam", "rating", "price", "topic"):
        result = answer(x, name)
        print(name, result.sum().item())

# function: Heads.forward
# compiles: 4
# over: no
# next: with torch.no_grad(): answer(x, "toxicity")
# remedy: +20 -> model.trunk.compile() && 20 -> answer = model   -> compiles 0
# remedy: 20 -> answer = torch.compile(model, dynamic=True)   -> compiles 4
# remedy: +20 -> torch._dynamo.config.recompile_limit = 64   -> compiles 4
