"""One rank has no labels for the second task from the third step on, which DistributedDataParallel misses."""

import torch
from job import BACKEND, end, start
from torch.nn.parallel import DistributedDataParallel

rank, _ = start()


class TwoTasks(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = torch.nn.Linear(8, 16)
        self.main, self.second = torch.nn.Linear(16, 4), torch.nn.Linear(16, 1)
        self.has_second = True

    def forward(self, x):
        h = self.trunk(x).relu()
        if self.has_second:  # PARTS self.has_second is
            return self.main(h), self.second(h)
        return self.main(h), None


net = TwoTasks()
model = torch.compile(DistributedDataParallel(net), backend=BACKEND)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(5):
    net.has_second = not (rank == 1 and step >= 2)
    main, second = model(torch.randn(6, 8))
    loss = main.pow(2).mean() + (second.pow(2).mean() if second is not None else 0)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
end("done")
