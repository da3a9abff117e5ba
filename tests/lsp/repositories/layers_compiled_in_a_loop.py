import torch
from torch import nn


class Layer(nn.Module):
    def forward(self, x):
        return x * x.sum().item()  # breaks


layers = nn.ModuleList([Layer(), Layer()])
for layer in layers:
    layer.compile(backend="eager")
x = torch.ones(3)
for layer in layers:
    x = layer(x)
