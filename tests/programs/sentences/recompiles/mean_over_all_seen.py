"""A mean over all that a module has seen, which counts it in a number of its own, while batches grow."""

import torch
from torch import nn


class Running(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.project = nn.Linear(width, width)
        self.seen = 2

    def forward(self, inputs, weight):
        projected = self.project(inputs) * weight
        self.seen = self.seen + 2
        return projected.sum() / self.seen


torch.manual_seed(0)
running = Running(8)
compiled = torch.compile(running)
for rows in (4, 6, 8, 10):
    loss = compiled(torch.randn(rows, 8), 0.5)
    loss.backward()
    print(rows, round(loss.item(), 4))

# function: Running.forward
# compiles: 4
# over: no
# next: compiled(torch.randn(12, 8), 0.5)
# remedy: +20 -> torch._dynamo.config.allow_unspec_int_on_nn_module = True && 21 -> compiled = torch.compile(running, dynamic=True)   -> compiles 1
# remedy: +20 -> torch._dynamo.config.allow_unspec_int_on_nn_module = True   -> compiles 2
# remedy: 21 -> compiled = torch.compile(running, dynamic=True)   -> compiles 4
