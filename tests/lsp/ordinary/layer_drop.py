import random
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, d=8, depth=3, layerdrop=0.1):
        super().__init__()
        self.layers = nn.ModuleList([nn.TransformerEncoderLayer(d, 2, 16, batch_first=True) for _ in range(depth)])
        self.layerdrop = layerdrop
        self.norm = nn.LayerNorm(d)

    def forward(self, x):
        hidden = []
        for layer in self.layers:
            hidden.append(x)
            if self.training and random.random() < self.layerdrop:  # breaks
                continue
            x = layer(x)
        return self.norm(x), hidden


encoder = torch.compile(Encoder(), backend="eager")
encoder(torch.randn(2, 3, 8))
