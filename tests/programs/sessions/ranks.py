"""Two ranks compile, and reduce over gloo; run by torchrun, with the device as an argument, or on the CPU.

On a GPU they share it: NCCL refuses two ranks of one GPU ("Duplicate GPU detected", NCCL 2.28).
"""

import sys

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
r = dist.get_rank()


def helper(y):
    return y * 2  #: helper


@torch.compile(backend="eager")
def f(x):
    a = x + 1
    return helper(a).sum()


t = torch.ones(3, device=sys.argv[1] if sys.argv[1:] else "cpu") * (r + 1)
v = f(t)
dist.all_reduce(v)  #: ran
print(f"rank {r} -> {v.item()}", flush=True)
dist.destroy_process_group()
