"""The gradients of all parameters that are trained are averaged one by one; one rank has unfrozen a layer earlier.

(ranks: 3)
"""

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, world = start()
encoder, head = torch.nn.Linear(6, 10), torch.nn.Linear(10, 1)
encoder.requires_grad_(False)


class Unfreeze:
    def __init__(self, below):
        self.below = below

    def after(self, loss):
        if loss < self.below:
            encoder.requires_grad_(True)


@compiled
def loss_of(x):
    return head(torch.relu(encoder(x))).square().mean()


def average():
    trained = [each for layer in (head, encoder) for each in layer.parameters() if each.requires_grad]
    for parameter in reversed(trained):  # PARTS `reversed(trained)` has 2 elements in rank 0, and 4 in rank 2
        dist.all_reduce(parameter.grad)
        parameter.grad /= world


unfreeze = Unfreeze(below=1e-3)
for step in range(4):
    loss = loss_of(torch.full((4, 6), 4.0))
    loss.backward()
    average()
    unfreeze.after(0.0 if rank == 2 and step else loss.item())
    encoder.zero_grad()
    head.zero_grad()
end("done")
