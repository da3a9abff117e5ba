"""A compiled training step."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


@torch.compile(backend="eager")
def optimize():
    optimizer.step()  # breaks


@torch.compile(backend="eager")
def train_step(x, y):
    optimizer.zero_grad()  # breaks
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()  # breaks
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    if norm > 10:  # breaks
        print("clipped")
    optimizer.step()  # breaks
    return loss.item()  # breaks


@torch.compile(backend="eager")
def penalty(x, w):
    out = (x @ w).sum()
    (grad,) = torch.autograd.grad(out, w, create_graph=True)  # breaks
    return grad.norm()


if __name__ == "__main__":
    train_step(torch.randn(2, 4), torch.randn(2, 1))
    optimize()
    penalty(torch.randn(2, 4), torch.randn(4, requires_grad=True))
