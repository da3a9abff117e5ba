import math
import torch
from torch import nn

model = nn.Linear(4, 1)
opt = torch.optim.RMSprop(model.parameters())


def train(x, y, max_norm=1.0):
    pred = model(x)
    loss = ((pred - y) ** 2).mean()
    if not math.isfinite(loss.item()):  # breaks
        raise RuntimeError("diverged")
    loss.backward()  # breaks
    total = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
    if total > max_norm:  # breaks
        for p in model.parameters():
            p.grad.mul_(max_norm / total)
    opt.step()  # breaks
    opt.zero_grad()  # breaks
    return loss


train = torch.compile(train, backend="eager")
train(torch.randn(4, 4), torch.randn(4, 1))
