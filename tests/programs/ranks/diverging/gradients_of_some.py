"""A rank has no gradients for the first parameters, and reduces those of others in their place."""

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, _ = start()
model = torch.nn.ModuleDict({"backbone": torch.nn.Linear(8, 16), "head": torch.nn.Linear(16, 4)})
model["backbone"].requires_grad_(rank == 0)


def average(model):
    for _, each in model.named_parameters():
        if each.grad is None:  # PARTS `each.grad is None` is true in rank 1, and false in rank 0
            continue
        flat = each.grad.flatten()
        dist.all_reduce(flat)


@compiled
def loss_of(x):
    return model["head"](model["backbone"](x).relu()).square().mean()


loss = loss_of(torch.ones(6, 8))
loss.backward()
average(model)
end(loss.item())
