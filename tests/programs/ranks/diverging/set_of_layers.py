"""A list of modules to reduce is shorter in one rank."""

import torch
from job import compiled, end, start, total

rank, _ = start()


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(3))
        self.reduced = {0, 2} if rank == 1 else {0, 1, 2}

    def forward(self, x):
        for number, layer in enumerate(self.layers):
            x = layer(x)
            if number in self.reduced:  # PARTS reduced
                x = total(x)
        return x.sum()


model = compiled(Model())
for _ in range(3):
    result = model(torch.ones(3, 4))
end(result.item())
