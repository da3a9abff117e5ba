import torch
from torch import nn
import torch.nn.functional as F


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(4, 8)
        self.heads = nn.ModuleDict({"age": nn.Linear(8, 1), "kind": nn.Linear(8, 3)})
        self.log_vars = nn.Parameter(torch.zeros(2))

    def forward(self, x, targets):
        h = self.trunk(x).relu()
        out = {name: head(h) for name, head in self.heads.items()}
        losses = {
            "age": F.mse_loss(out["age"], targets["age"]),
            "kind": F.cross_entropy(out["kind"], targets["kind"]),
        }
        total = sum(losses[k] * (-v).exp() + v for k, v in zip(losses, self.log_vars))
        metrics = {k: v.item() for k, v in losses.items()}  # breaks
        return total, metrics


model = torch.compile(MultiTask(), backend="eager")
total, metrics = model(torch.randn(2, 4), {"age": torch.randn(2, 1), "kind": torch.tensor([0, 1])})
total.backward()
