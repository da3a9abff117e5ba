"""A tabular model: a dict of features; a column appears later; batches differ."""

import torch
from torch import nn


class Tabular(nn.Module):
    def __init__(self, names, dim=8):
        super().__init__()
        self.proj = nn.ModuleDict({n: nn.Linear(4, dim) for n in names})
        self.head = nn.Linear(dim, 1)

    def forward(self, features):
        total = 0
        for name, value in features.items():
            total = total + self.proj[name](value)
        return self.head(torch.relu(total)).squeeze(-1)


torch.manual_seed(0)
model = Tabular(["age", "income", "region"])
predict = torch.compile(model)
loads = [
    (["age", "income"], 16),
    (["age", "income", "region"], 24),
    (["age", "income", "region"], 12),
    (["age", "income"], 20),
]
with torch.no_grad():
    for names, size in loads:
        batch = {n: torch.randn(size, 4) for n in names}
        print(names, size, round(predict(batch).sum().item(), 4))

# function: Tabular.forward
# compiles: 4
# over: yes
# next: torch.no_grad()(predict)({n: torch.randn(31, 4) for n in ["age", "income"]})
# remedy: 22 -> predict = torch.compile(model, dynamic=True)   -> compiles 2
# remedy: 32 -> {torch._dynamo.maybe_mark_dynamic(each, 0) for each in batch.values()}; print(names, size, round(predict(batch).sum().item(), 4))   -> compiles 2
