import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))


@torch.compile(backend="eager")
def objective(x, y, l1=1e-3):
    pred = model(x)
    loss = nn.functional.mse_loss(pred, y)
    penalty = torch.zeros(())
    for name, p in model.named_parameters():
        if name.endswith("weight"):
            penalty = penalty + p.abs().sum()
    total = loss + l1 * penalty
    stats = {"loss": loss.item(), "penalty": penalty.item()}  # breaks
    return total, stats


total, stats = objective(torch.randn(2, 4), torch.randn(2, 1))
total.backward()
