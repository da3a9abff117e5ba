"""Ranks choose other experts, and skip the parameters without gradients: they reduce other ones, of other sizes."""

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, world = start()
experts = torch.nn.ModuleList(torch.nn.Linear(4, 2 + number) for number in range(3))
model = torch.nn.ModuleDict({"experts": experts, "head": torch.nn.Linear(4, 2)})


@compiled
def loss_of(x, expert):
    return experts[expert](x).square().mean() + model["head"](x).mean()


def average_gradients(parameters):
    reduced = []
    for name, parameter in parameters:
        if parameter.grad is None:  # PARTS name is 'experts.0.weight' in rank 0, and 'experts.1.weight' in rank 1
            continue
        dist.all_reduce(parameter.grad)
        parameter.grad.div_(world)
        reduced.append(name)
    return reduced


for step in range(3):
    model.zero_grad(set_to_none=True)
    loss_of(torch.ones(3, 4), rank if step == 1 else 2).backward()
    average_gradients([(name, each) for name, each in model.named_parameters()])
end("done")
