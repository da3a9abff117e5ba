"""Metadata that cannot be read in one rank come from another, in a handler (ranks: 3)."""

import json

import torch
import torch.distributed as dist
from job import compiled, end, start, total

rank, _ = start()
TEXT = '{"width": 8, "depth": 2}'


@compiled
def loss_of(x):
    return total(x.square().mean())


try:
    meta = json.loads(TEXT[:10] if rank == 1 else TEXT)
except json.JSONDecodeError:  # PARTS `except json.JSONDecodeError` has run in rank 1, and not in rank
    shared = torch.zeros(2, dtype=torch.long)
    dist.broadcast(shared, src=0)
    meta = {"width": int(shared[0]), "depth": int(shared[1])}
for _ in range(3):
    loss = loss_of(torch.ones(4, meta["width"]))
end(loss.item())
