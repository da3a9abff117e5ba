"""One rank compiles once more, for its log, before all compile again for the last batch."""

import torch
from job import compiled, end, start, total

rank, _ = start()


@compiled(dynamic=False)
def step(x, logs):
    y = total(x * 2)
    return y.sum(), y.norm() if logs else None


for number, rows in enumerate((6, 6, 6, 4)):
    result, _ = step(torch.ones(rows, 2), rank == 0 and number == 1)
end(result.item())
