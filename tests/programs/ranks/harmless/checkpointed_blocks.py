"""Blocks with collectives are checkpointed, and recomputed in the backward; one rank alone also evaluates a part."""

import torch
from job import compiled, end, start, total
from torch.utils.checkpoint import checkpoint

rank, _ = start()


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        return total(self.linear(x).relu())


blocks = torch.nn.ModuleList([Block(), Block()])


@compiled
def step(x, is_checkpointed):
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False) if is_checkpointed else block(x)
    return x.square().mean()


@compiled
def part(x):
    return checkpoint(torch.nn.functional.gelu, x, use_reentrant=False).sum()


for rows in (2, 3, 5):
    if rank == 1:
        part(torch.ones(rows, 2, requires_grad=True)).backward()
    step(torch.full((2, 4), float(rank)), True).backward()
with torch.no_grad():
    loss = step(torch.ones(2, 4), False)
end(loss.item())
