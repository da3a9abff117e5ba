"""Ranks that allow each other a few seconds, in groups of all and of each pair; run by torchrun."""

import datetime
import os

import torch
import torch.distributed as dist

LIMIT = datetime.timedelta(seconds=int(os.environ.get("ALLOWED", "3")))
dist.init_process_group("gloo", timeout=LIMIT)
rank = dist.get_rank()
pair = dist.new_group([0, 1], timeout=LIMIT)


@torch.compile(backend="aot_eager")
def step(x):
    y = x * 2  #: held
    dist.all_reduce(y, group=pair)
    return y + 1


result = step(torch.ones(3) * (rank + 1))
dist.all_reduce(result)
dist.barrier()
cpu = torch.device("cpu")
limits = [group._get_backend(cpu).options._timeout for group in (dist.group.WORLD, pair)]
limits.append(dist.distributed_c10d._get_default_store().timeout)
seconds = " ".join(f"{each.total_seconds():g}" for each in limits)
print(f"rank {rank} -> {result[0].item()} {seconds}\n", end="", flush=True)  # in one piece
dist.destroy_process_group()
