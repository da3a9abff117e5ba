import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.tensor(0.25))

    def forward(self, x):
        return x * self.scale.item() + 1


print(torch.compile(Scaled(), backend="eager")(torch.ones(3)))
