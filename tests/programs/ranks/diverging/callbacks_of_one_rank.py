"""One rank has one callback more, which reduces; the other begins the next epoch."""

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, _ = start()


class Samples:
    def ends(self, trainer):
        trainer.samples += 8


class Throughput:
    def ends(self, trainer):
        dist.all_reduce(torch.tensor([float(trainer.samples)]))


class Trainer:
    def __init__(self, model, callbacks):
        self.model, self.callbacks, self.samples = model, callbacks, 0
        self.compiled = compiled(model)

    def notify(self):
        for callback in self.callbacks:  # PARTS self.callbacks is of length 2 in rank 0, and of length 1 in rank 1
            callback.ends(self)

    def step(self, x):
        self.compiled(x).pow(2).mean().backward()
        for p in self.model.parameters():
            dist.all_reduce(p.grad)

    def fit(self, epochs):
        for _ in range(epochs):
            for _ in range(2):
                self.step(torch.ones(4, 8))
            self.notify()


trainer = Trainer(torch.nn.Linear(8, 2), [Samples(), Throughput()] if rank == 0 else [Samples()])
trainer.fit(2)
end(trainer.samples)
