"""The trainer makes a process group of all ranks, and the actor, which would have to, does not."""

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, world = start()
policy = torch.nn.Linear(4, 2)


class Worker:
    def __init__(self, role):
        self.role, self.group = role, None
        self.act = compiled(policy)

    def connect(self):
        if self.role == "trainer":  # PARTS self.role is
            self.group = dist.new_group(list(range(world)))

    def synchronize(self):
        for each in policy.parameters():
            dist.all_reduce(each.data, group=self.group)


worker = Worker("trainer" if rank == 0 else "actor")
worker.act(torch.ones(3 + rank, 4))
dist.barrier()
worker.connect()
worker.synchronize()
end("done")
