"""One rank warms its model up in three sizes before it synchronizes; then all ranks reduce alike."""

import torch
from job import compiled, end, start, total

rank, _ = start()


class Head(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(8, 4)
        self.synchronizes = False

    def forward(self, x):
        y = self.inner(x)
        if self.synchronizes:
            y = total(y)
        return y.sum(-1)


head = Head()
model = compiled(head, dynamic=False)
with torch.no_grad():
    if rank == 0:
        for rows in (2, 4, 6):
            model(torch.zeros(rows, 8))
    head.synchronizes = True
    for _ in range(3):
        out = model(torch.randn(4, 8))
end(out.sum().item())
