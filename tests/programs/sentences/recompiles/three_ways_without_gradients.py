"""A model is called with gradients, without, and in inference mode."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 2)


@torch.compile(backend="aot_eager")
def score(x, offset):
    return torch.sigmoid(net(x) - offset)


x = torch.randn(4, 3)
for context in (torch.enable_grad, torch.no_grad, torch.inference_mode, torch.no_grad):
    with context():
        print(context.__name__, score(x, 0.5).detach().sum().item())

# function: score
# compiles: 3
# over: yes
# next: with torch.inference_mode(): score(x.copy_(torch.ones(4, 3)), 0.5)
# remedy: 17 -> with torch.no_grad():   -> compiles 1
