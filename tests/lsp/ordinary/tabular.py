from dataclasses import dataclass
from typing import Optional

import torch
from torch import Tensor, nn


@dataclass
class Batch:
    numeric: Tensor
    category: Tensor
    target: Optional[Tensor] = None


class Tabular(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(5, 3)
        self.bn = nn.BatchNorm1d(4)
        self.fc = nn.Linear(7, 1)

    def forward(self, batch: Batch):
        x = torch.cat([self.bn(batch.numeric), self.emb(batch.category)], dim=-1)
        out = self.fc(x).squeeze(-1)
        if batch.target is None:
            return out, None
        loss = nn.functional.huber_loss(out, batch.target)
        r2 = 1 - ((out - batch.target) ** 2).sum() / batch.target.var()
        print("r2", r2.item())  # breaks
        return out, loss


model = torch.compile(Tabular(), backend="eager")
model(Batch(torch.randn(3, 4), torch.tensor([0, 1, 4]), torch.randn(3)))
