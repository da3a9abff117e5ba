"""A model is evaluated after each epoch."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1))


@torch.compile(backend="aot_eager")
def predict(inputs, offset):
    return model(inputs) + offset


inputs = torch.randn(8, 4)
for epoch in range(3):
    model.train()
    loss = predict(inputs, 0.5).square().mean()
    loss.backward()
    model.eval()
    with torch.no_grad():
        print(epoch, loss.item(), predict(inputs, 0.5).sum().item())

# function: predict
# compiles: 2
# over: yes
# next: with torch.no_grad(): predict(inputs * 2, 0.5)
# best: none
