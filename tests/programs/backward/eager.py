"""A training step in eager mode, of a program that never asks for Dynamo."""

from __future__ import annotations

import torch

layer = torch.nn.Linear(4, 2)
loss = layer(torch.ones(3, 4)).sum()  #: forward
loss.backward()
print("gradient", float(layer.bias.grad[0]))
