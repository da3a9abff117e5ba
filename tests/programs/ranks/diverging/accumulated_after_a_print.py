"""One rank accumulates over two steps, the other over three, and both wait. One prints before: a graph break."""

import torch
import torch.distributed as dist
from job import compiled, end, start, total

rank, _ = start()


class Accumulator:
    def __init__(self):
        self.steps, self.prints = 2 + rank, rank == 0

    def reduce(self, step, gradients):
        if self.prints:
            print("norms of", len(gradients))
        flat = torch.cat([each.flatten() for each in gradients])
        if (step + 1) % self.steps == 0:  # PARTS self.steps is
            flat = total(flat) / self.steps
        return flat


reduce = compiled(Accumulator().reduce)
for step in range(6):
    reduce(step, [torch.ones(4, 8), torch.ones(8)])
    seen = [torch.zeros(40) for _ in range(2)]
    dist.all_gather(seen, torch.full((40,), float(step)))
end("done")
