"""A whole epoch over a DataLoader in one compiled function."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))


def loss_of(inputs: torch.Tensor, targets: torch.Tensor, weight: float) -> torch.Tensor:
    return weight * (model(inputs).squeeze(-1) - targets).square().mean()


@torch.compile(backend="aot_eager")
def epoch(loader: DataLoader, weight: float) -> torch.Tensor:
    total = torch.zeros(())
    for inputs, targets in loader:
        total = total + loss_of(inputs, targets, weight)
    return total / len(loader)


for size, weight in ((2, 1.0), (3, 1.0), (2, 0.5)):
    data = TensorDataset(torch.randn(6, 3), torch.ones(6))
    print(size, weight, round(epoch(DataLoader(data, batch_size=size), weight).item(), 5))
# breaks: 18
# compiles: 3
# remedy: +11 -> @torch.compile(backend="aot_eager") && -15 -> breaks none
