"""Breaks its graph in the middle of two lines, whose rest runs in code that Dynamo generated."""

import torch


@torch._dynamo.disable
def told(loss):
    return loss * 1  #: told


@torch.compile(backend="eager")
def train(x):
    strength = x.sum()
    loss = x * 2
    kept = told(loss * strength) + strength  #: first
    mean = kept.mean()
    return told(mean + 1) * mean  #: second


for _ in range(3):
    train(torch.ones(4))
