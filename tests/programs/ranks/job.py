"""What the jobs of this folder share: a process group over gloo, a compiled function, and an end for all ranks."""

from __future__ import annotations

import datetime
import os
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional

BACKEND = os.environ.get("JOB_BACKEND", "aot_eager")


def start() -> tuple[int, int]:
    """Return this process's rank, and how many there are."""
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=float(os.environ.get("JOB_SECONDS", "60"))))
    torch.manual_seed(0)
    return dist.get_rank(), dist.get_world_size()


def compiled(function: Any = None, **options: Any) -> Any:
    options = {"backend": BACKEND, **options}
    return torch.compile(function, **options) if function is not None else lambda it: torch.compile(it, **options)


def total(x: torch.Tensor, operation: str = "sum", group: Any = None) -> torch.Tensor:
    return functional.all_reduce(x, operation, dist.group.WORLD if group is None else group)


def gathered(x: torch.Tensor) -> torch.Tensor:
    return functional.all_gather_tensor(x, 0, dist.group.WORLD)


def end(result: object) -> None:
    print(f"rank {dist.get_rank()} result {result}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
