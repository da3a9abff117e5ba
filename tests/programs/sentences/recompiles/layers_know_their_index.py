"""Each layer of a stack writes to its own slot of a shared cache."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, index, width):
        super().__init__()
        self.index = index
        self.proj = nn.Linear(width, width)

    def forward(self, x, cache):
        x = torch.tanh(self.proj(x)) + self.index
        cache.append(x)
        return x


torch.manual_seed(0)
blocks = nn.ModuleList(Block(index, 4) for index in range(5))
for block in blocks:
    block.compile()
x, cache = torch.randn(2, 4), []
with torch.no_grad():
    for block in blocks:
        x = block(x, cache)
print(x.sum().item(), len(cache))

# function: Block.forward
# compiles: 5
# over: no
# next: with torch.no_grad(): (extra := Block(9, 4)).compile(), extra(x, [])
# remedy: 10 -> self.register_buffer("index", torch.tensor(index)) && 26 -> x = block(x, slot := []); cache += slot   -> compiles 1
# remedy: 10 -> self.register_buffer("index", torch.tensor(index))   -> compiles 5
# remedy: 22 -> block.compile(dynamic=True)   -> compiles 5
# remedy: +22 -> torch._dynamo.config.allow_unspec_int_on_nn_module = True   -> compiles 5
