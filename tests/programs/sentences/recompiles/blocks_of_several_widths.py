"""One compiled function that runs blocks of several widths."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width, groups):
        super().__init__()
        self.groups = groups
        self.norm = nn.GroupNorm(groups, width)
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        h = self.norm(self.fc(x))
        return x + h.view(x.shape[0], self.groups, -1).softmax(-1).flatten(1)


@torch.compile(backend="aot_eager")
def run_block(block, x):
    return block(x)


torch.manual_seed(0)
blocks = [Block(8, 2), Block(12, 3), Block(16, 4), Block(20, 5)]
with torch.no_grad():
    for block in blocks:
        x = torch.randn(4, block.fc.in_features)
        print(round(run_block(block, x).sum().item(), 4))

# function: run_block
# compiles: 4
# over: no
# next: run_block(Block(24, 6), torch.randn(4, 24))
# best: none
