"""A dataset of documents drops short ones, of which one rank has more; its class tells how many are left."""

import torch
import torch.distributed as dist
from job import compiled, end, start
from torch.utils.data import DataLoader, Dataset

rank, world = start()


class Documents(Dataset):
    def __init__(self, lengths, least):
        self.kept = [torch.ones(8) * each for each in lengths if each >= least]

    def __len__(self):
        return len(self.kept)

    def __getitem__(self, at):
        return self.kept[at]


@compiled
def score(batch, weight):
    return (batch * weight).tanh().sum()


def evaluate(loader):
    total = torch.zeros(())
    for batch in loader:  # PARTS loader.dataset.kept is of length 6 in rank 0, and of length 4 in rank 1
        part = score(batch, 0.5)
        dist.all_reduce(part)
        total += part
    return total


loader = DataLoader(Documents([3, 9, 8, 7, 9, 9, 8] if rank == 0 else [9, 2, 8, 1, 7, 0, 9], least=5), batch_size=2)
seen = evaluate(loader)
dist.all_gather([torch.zeros(2) for _ in range(world)], torch.stack([seen, seen]))
end("done")
