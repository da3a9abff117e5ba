"""A trainer skips batches whose loss is far above the average, of which one rank has more, and counts them."""

import torch
import torch.distributed as dist
from job import BACKEND, end, start
from torch.nn.parallel import DistributedDataParallel

rank, _ = start()


class Average:
    def __init__(self):
        self.value = 1.0

    def is_far_below(self, loss):
        return loss > 5.0 * self.value

    def add(self, loss):
        self.value = 0.9 * self.value + 0.1 * loss


class Trainer:
    def __init__(self, model):
        self.model = DistributedDataParallel(model)
        self.forward = torch.compile(self.model, backend=BACKEND)
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        self.average, self.spikes, self.steps = Average(), 0, 0

    def epoch(self, batches):
        for x, y in batches:
            loss = (self.forward(x) - y).square().mean()
            if self.average.is_far_below(loss.item()):  # PARTS self.spikes is 0 in rank 0, and 1 in rank 1
                self.spikes += 1
                continue
            self.average.add(loss.item())
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.steps += 1


torch.manual_seed(3)
trainer = Trainer(torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.SiLU(), torch.nn.Linear(8, 1)))
batches = [(torch.ones(4, 6), torch.full((4, 1), 40.0 if rank == 1 and number == 2 else 0.5)) for number in range(5)]
trainer.epoch(batches)
steps = torch.tensor([trainer.steps])
dist.all_reduce(steps)
end(steps.item())
