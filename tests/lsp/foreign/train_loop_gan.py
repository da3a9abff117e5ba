"""A small GAN step with an accelerator object, progress lines and a loss that is logged every time."""

import time

import torch
from torch import nn


class Accelerator:
    def __init__(self):
        self.steps = 0

    def backward(self, loss):
        self.steps += 1
        loss.backward()  # breaks


class Generator(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width, width), nn.LeakyReLU(0.2), nn.Linear(width, width))

    def forward(self, z):
        return torch.tanh(self.net(z))


def step(accelerator, generator, z):
    started = time.time()  # breaks
    fake = generator(z)
    loss = (fake**2).mean()
    accelerator.backward(loss)
    return loss.detach(), time.time() - started  # breaks


if __name__ == "__main__":
    torch.compile(step, backend="eager")(Accelerator(), Generator(), torch.randn(4, 8))
