"""A state is gathered where it has changed since it was saved last; in one rank a batch of padding changes nothing."""

import dataclasses

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, world = start()


@dataclasses.dataclass
class State:
    tokens: int = 0


class Saver:
    def __init__(self):
        self.saved = State()

    def save(self, state, weight):
        if state == self.saved:  # PARTS `state == self.saved` is true in rank 1, and false in rank 0
            return
        dist.all_gather([torch.empty_like(weight) for _ in range(world)], weight)
        self.saved = dataclasses.replace(state)


model = torch.nn.Linear(8, 4)
forward = compiled(model)
state, saver = State(), Saver()
full, padding = torch.ones(4, 8), torch.zeros(4, 8)
for ids in [full, padding if rank == 1 else full, full]:
    forward(ids).sum().backward()
    state.tokens += int((ids != 0).sum())
    saver.save(state, model.weight.detach())
end(state.tokens)
