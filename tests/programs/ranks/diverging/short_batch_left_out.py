"""A rank leaves out a batch that is too short, and has reduced gradients once less in the end."""

import torch
from job import compiled, end, start
from torch.nn.parallel import DistributedDataParallel

rank, _ = start()


def batches():
    for length in [[12, 12, 12, 12], [12, 12, 5, 12]][rank]:
        yield torch.randint(0, 32, (2, length))


def train(model, least):
    for tokens in batches():
        if tokens.shape[1] < least:  # PARTS tokens.shape[1] < least
            continue
        model(tokens).square().mean().backward()


network = torch.nn.Sequential(torch.nn.Embedding(32, 16), torch.nn.Tanh(), torch.nn.Linear(16, 32))
train(compiled(DistributedDataParallel(network)), 8)
end("done")
