"""Each rank goes through its rows of a table in blocks, one of which the last rank has less: (ranks: 3)."""

import torch
from job import compiled, end, start, total

rank, size = start()


class Head(torch.nn.Module):
    def __init__(self, rows, block):
        super().__init__()
        self.rows = torch.nn.Parameter(torch.randn(rows, 8))
        self.block = block

    def forward(self, x):
        largest = None
        for first in range(0, self.rows.shape[0], self.block):  # PARTS self.rows.size()[0] is
            part = total((x @ self.rows[first : first + self.block].t()).amax(-1), "max")
            largest = part if largest is None else torch.maximum(largest, part)
        return largest


head = Head([7, 7, 3][rank], 4)
score = compiled(head)
with torch.no_grad():
    for _ in range(3):
        best = score(torch.randn(5, 8))
end(best.sum().item())
