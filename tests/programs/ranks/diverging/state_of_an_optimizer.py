"""Only one rank has read a checkpoint: the optimizers of the others have no state that it could broadcast to."""

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, _ = start()


def made():
    model = torch.nn.Linear(5, 3)
    return model, torch.optim.AdamW(model.parameters(), lr=1e-3)


def checkpoint():
    model, optimizer = made()
    model(torch.ones(2, 5)).sum().backward()
    optimizer.step()
    return optimizer.state_dict()


def broadcast_weights(model):
    for each in model.parameters():
        dist.broadcast(each.data, src=0)


def broadcast_state(optimizer):
    for state in optimizer.state.values():  # PARTS `optimizer.state.values()` has 2 elements in rank 0, and 0 in rank 1
        for value in state.values():
            if torch.is_tensor(value):
                dist.broadcast(value, src=0)


def resume(model, optimizer):
    if rank == 0:
        optimizer.load_state_dict(checkpoint())
    broadcast_weights(model)
    broadcast_state(optimizer)


model, optimizer = made()
resume(model, optimizer)
forward = compiled(model)
for _ in range(2):
    forward(torch.randn(4, 5)).square().mean().backward()
    for each in model.parameters():
        dist.all_reduce(each.grad)
    optimizer.step()
    optimizer.zero_grad()
end("done")
