"""A classifier's training step, compiled as a whole."""

import torch
from torch import nn
import torch.nn.functional as F

model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)


@torch.compile(backend="eager")
def train_step(x, y):
    optimizer.zero_grad()  # breaks
    logits = model(x)
    loss = F.cross_entropy(logits, y)
    loss.backward()  # breaks
    optimizer.step()  # breaks
    scheduler.step()  # breaks
    return loss.item(), (logits.argmax(-1) == y).float().mean().item()  # breaks


for _ in range(2):
    print(train_step(torch.randn(4, 8), torch.randint(0, 3, (4,))))
