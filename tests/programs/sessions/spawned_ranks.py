"""Two ranks that `mp.spawn` starts: each knows its number once it has joined the other."""

import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


@torch.compile(backend="eager")
def step(x):
    return x * 2  #: traced


def work(rank, store):
    dist.init_process_group("gloo", f"file://{store}", rank=rank, world_size=2)
    result = step(torch.ones(2) * (rank + 1))
    dist.all_reduce(result)
    print(f"rank {rank} -> {result[0].item()}\n", end="", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, (os.path.join(folder, "store"),), nprocs=2)
