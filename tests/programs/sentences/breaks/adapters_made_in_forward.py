"""Low-rank adapters that are made when a task is first seen, in the forward."""

import torch
from torch import nn


class Adapted(nn.Module):
    def __init__(self, width: int, rank: int) -> None:
        super().__init__()
        self.base, self.rank = nn.Linear(width, width), rank
        self.adapters = nn.ModuleDict()

    def forward(self, inputs: torch.Tensor, task: str) -> torch.Tensor:
        if task not in self.adapters:
            self.adapters[task] = nn.Linear(inputs.shape[-1], inputs.shape[-1], bias=False)
            nn.init.constant_(self.adapters[task].weight, 0.1 * self.rank)
        return self.base(inputs) + self.adapters[task](inputs)


torch.manual_seed(0)
model = Adapted(3, 2)
adapted = torch.compile(model, backend="eager")
with torch.no_grad():
    batches = torch.randn(3, 2, 3)
    for inputs, task in zip(batches, ("sort", "rank", "sort"), strict=True):
        print(task, round(adapted(inputs, task).sum().item(), 4), len(model.adapters))
# breaks: 15
# compiles: 5
# remedy: -14 && -15 && -16 && +26 -> if task not in model.adapters: model.adapters[task] = nn.Linear(3, 3, bias=False); nn.init.constant_(model.adapters[task].weight, 0.1 * model.rank) -> breaks none
