"""A backbone is frozen after some steps, and thawed again."""

import torch
from torch import nn

torch.manual_seed(0)
backbone, head = nn.Linear(3, 3), nn.Linear(3, 1)


@torch.compile
def loss_of(x, target):
    hidden = torch.tanh(backbone(x))
    return (head(hidden) - target).square().mean()


x, target = torch.randn(4, 3), torch.randn(4, 1)
for step in range(4):
    backbone.requires_grad_(step % 2 == 0)
    loss = loss_of(x, target)
    head.zero_grad()
    loss.backward()
    print(step, loss.item(), head.weight.grad.sum().item())

# function: loss_of
# compiles: 2
# over: no
# next: backbone.weight.requires_grad_(True), loss_of(x, target)
# remedy: 18 -> backbone.requires_grad_(True)   -> compiles 1
# remedy: 10 -> @torch.compile(dynamic=True)   -> compiles 2
