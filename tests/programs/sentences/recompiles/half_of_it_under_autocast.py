"""Evaluation runs under autocast, training does not."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 4), nn.GELU())


@torch.compile(backend="eager")
def forward(x, residual):
    return net(x).float() + residual


x = torch.randn(2, 4)
for epoch in range(2):
    train = forward(x, x)
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        evaluated = forward(x, x)
    print(epoch, round(train.sum().item(), 3), round(evaluated.sum().item(), 1))

# function: forward
# compiles: 2
# over: no
# next: with torch.no_grad(), torch.autocast("cpu", dtype=torch.float16): forward(x, x)
# best: none
