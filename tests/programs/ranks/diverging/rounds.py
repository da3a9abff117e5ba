"""Ranks repeat a collective for different numbers of rounds, after a graph break."""

import torch
from job import compiled, end, start, total

rank, _ = start()
rounds = 1 + rank


@compiled
def step(x):
    torch._dynamo.graph_break()
    for _ in range(rounds):  # PARTS rounds
        x = total(x + 1)
    return x.sum()


end(step(torch.ones(4)).item())
