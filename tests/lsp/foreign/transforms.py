"""Augmentations: random choices, sizes from tensors, probabilities."""

import random

import torch
import torch.nn.functional as F


class Compose:
    def __init__(self, *steps):
        self.steps = steps

    def __call__(self, x):
        for step in self.steps:
            x = step(x)
        return x


class RandomErase:
    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, x):
        if torch.rand(1) < self.p:  # breaks
            return x
        h = torch.randint(0, x.shape[-2], (1,)).item()  # breaks
        x = x.clone()
        x[..., h, :] = 0
        return x


class Normalize:
    def __init__(self, mean, std):
        self.mean, self.std = torch.tensor(mean), torch.tensor(std)

    def __call__(self, x):
        if (self.std == 0).any():  # breaks
            raise ValueError("std is zero")
        return (x - self.mean) / self.std


@torch.compile(backend="eager")
def erase(x, p=0.5):
    if torch.rand(1) < p:  # breaks
        x = x.flip(-1)
    k = int(torch.randint(1, 3, (1,)))  # breaks
    x = F.pad(x, (k, k))
    if random.choice([True]):  # breaks
        x = x * 2
    return x


@torch.compile(backend="eager")
def normalized(x):
    return Normalize([0.5], [0.5])(x)


if __name__ == "__main__":
    erase(torch.ones(1, 3, 4))
    normalized(torch.ones(1, 3, 4))
    torch.compile(RandomErase(), backend="eager")
    torch.compile(Compose(RandomErase(), Normalize([0.5], [0.5])).__call__, backend="eager")(torch.ones(1, 3, 4))
