"""Activation checkpointing of blocks, one of which says how large its input is."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, width: int, talks: bool) -> None:
        super().__init__()
        self.up, self.down, self.talks = nn.Linear(width, 2 * width), nn.Linear(2 * width, width), talks

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        if self.talks and self.training:
            print("block of", hidden.shape[-1])
        return hidden + self.down(self.up(hidden).relu())


class Stack(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(width, talks=False), Block(width, talks=True)])

    def forward(self, hidden: torch.Tensor, scale: float) -> torch.Tensor:
        for block in self.blocks:
            hidden = checkpoint(block, hidden * scale, use_reentrant=False)
        return hidden.mean()


torch.manual_seed(0)
stack = Stack(4)
compiled = torch.compile(stack, backend="aot_eager")
for scale in (1.0, 0.5, 0.25):
    loss = compiled(torch.randn(2, 4), scale)
    loss.backward()
    print(scale, round(loss.item(), 4), round(stack.blocks[0].up.weight.grad.sum().item(), 4))
# breaks: 15
# compiles: 0
# remedy: 15 -> pass -> breaks none -> silent
# remedy: +30 -> torch._dynamo.config.ignore_logging_functions.add(print) -> breaks none -> silent
