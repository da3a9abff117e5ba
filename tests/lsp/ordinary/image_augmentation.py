import random
import torch
from torch import nn


class RandomFlip(nn.Module):
    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def forward(self, x):
        if torch.rand(1) < self.p:  # breaks
            return x.flip(-1)
        return x


class RandomCrop(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def forward(self, x):
        top = random.randint(0, x.shape[-2] - self.size)
        left = random.randint(0, x.shape[-1] - self.size)
        return x[..., top : top + self.size, left : left + self.size]  # breaks


class Jitter(nn.Module):
    def forward(self, x):
        factor = torch.empty(1).uniform_(0.8, 1.2).item()  # breaks
        return (x * factor).clamp(0, 1)


augment = torch.compile(nn.Sequential(RandomFlip(), RandomCrop(4), Jitter()), backend="eager")
augment(torch.rand(2, 3, 8, 8))
