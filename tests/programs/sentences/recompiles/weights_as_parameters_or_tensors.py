"""A functional forward gets the module's own parameters, or an average of several."""

import torch
from torch import nn


@torch.compile
def forward(x, weight, bias):
    return torch.relu(nn.functional.linear(x, weight, bias))


torch.manual_seed(0)
layer, x = nn.Linear(3, 2), torch.randn(4, 3)
averaged = {name: each.detach().clone() for name, each in layer.named_parameters()}
with torch.no_grad():
    for step in range(4):
        own = dict(layer.named_parameters())
        weights = averaged if step % 2 else own
        print(step, forward(x, **weights).sum().item())
        for name, each in averaged.items():
            each.lerp_(own[name] * 0.9, 0.5)

# function: forward
# compiles: 2
# over: yes
# next: with torch.no_grad(): forward(x, nn.Parameter(torch.randn(2, 3)), nn.Parameter(torch.randn(2)))
# remedy: 18 -> weights = averaged if step % 2 else {name: each.detach() for name, each in own.items()}   -> compiles 1
# remedy: 14 -> averaged = {name: nn.Parameter(each.detach().clone()) for name, each in layer.named_parameters()}   -> compiles 1
# remedy: 7 -> @torch.compile(dynamic=True)   -> compiles 2
