"""The dropout probability of a block falls during training."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.keep = 1.0

    def forward(self, x):
        return torch.relu(self.proj(x)) * self.keep + x


torch.manual_seed(0)
block = Block(4)
compiled = torch.compile(block)
x = torch.randn(2, 4)
for epoch in range(5):
    block.keep = 1.0 - 0.1 * epoch
    print(epoch, compiled(x).sum().item())

# function: Block.forward
# compiles: 2
# over: yes
# next: setattr(block, "keep", 0.37), compiled(x)
# remedy: 22 -> block.keep = torch.tensor(1.0 - 0.1 * epoch)   -> compiles 1
# remedy: 19 -> compiled = torch.compile(block, dynamic=True)   -> compiles 1
# remedy: +19 -> torch._dynamo.config.allow_unspec_int_on_nn_module = True   -> compiles 2
