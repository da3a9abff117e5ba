"""A method decides in each rank when to stop: one leaves the loop, and adds up what the other reduces."""

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, _ = start()
model = torch.nn.Linear(6, 3)


class Stopper:
    def __init__(self, patience):
        self.patience, self.best, self.bad = patience, 1e9, 0

    def stops(self, loss):
        self.bad = 0 if loss < self.best - 1e-3 else self.bad + 1
        self.best = min(self.best, loss)
        return self.bad >= self.patience


@compiled
def validate(x, scale):
    return model(x).pow(2).mean() * scale


def train():
    stopper, epoch = Stopper(2), 0
    while epoch < 8:
        gradient = torch.ones(24)
        dist.all_reduce(gradient)
        loss = validate(torch.ones(5, 6), 1.0 if rank == 0 else 1.0 / (1 + epoch)).item()
        if rank == 0:
            print("epoch", epoch, flush=True)
        if stopper.stops(loss):  # PARTS stopper.bad is 2 in rank 0, and 0 in rank 1
            break
        epoch += 1
    epochs = torch.tensor([float(epoch)])
    dist.all_reduce(epochs)
    return epochs.item()


end(train())
