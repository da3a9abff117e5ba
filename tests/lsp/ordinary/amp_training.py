import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.AdamW(model.parameters())
scaler = torch.amp.GradScaler("cpu", enabled=False)


@torch.compile(backend="eager")
def train_one(x, y):
    optimizer.zero_grad(set_to_none=True)  # breaks
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = nn.functional.mse_loss(model(x), y)
    scaler.scale(loss).backward()  # breaks
    scaler.step(optimizer)  # breaks
    scaler.update()  # breaks
    return loss.item()  # breaks


train_one(torch.randn(2, 4), torch.randn(2, 1))
