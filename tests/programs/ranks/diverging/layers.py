"""One rank was built with a layer more, each of which reduces."""

import torch
from job import compiled, end, start, total

rank, _ = start()


class Model(torch.nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(layers))

    def forward(self, x):
        for layer in self.layers:  # PARTS
            x = total(layer(x)).relu()
        return x.sum()


end(compiled(Model(2 + rank))(torch.ones(2, 4)).item())
