"""Run a compiled function with no memory left, and again with enough: `memory.py DEVICE`."""

from __future__ import annotations

import sys

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    doubled = x * 2
    return doubled + 1  #: trace


def allocated() -> int:
    return torch.cuda.memory_allocated() if torch.cuda.is_available() else 0


def take_all() -> list[torch.Tensor]:
    """Leave no megabyte of what this process may have: 1 % of the GPU."""
    torch.cuda.set_per_process_memory_fraction(0.01)
    taken: list[torch.Tensor] = []
    size = 1 << 30
    while size >= 1 << 20:
        try:
            taken.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
        except torch.OutOfMemoryError:
            size //= 2
    return taken


def main(device: str) -> None:
    x = torch.ones(1 << 20, device=device)
    compiled = torch.compile(forward, backend="aot_eager")  # inductor itself takes memory of the GPU when it begins
    # for the first fake tensor of a process torch takes memory of the GPU: without any left, nothing could be traced
    torch._subclasses.FakeTensorMode().from_tensor(x)
    taken = take_all() if device == "cuda" else []
    try:
        print("result", compiled(x)[:2].tolist())  #: first
    except torch.OutOfMemoryError:
        print("out of memory")
    taken.clear()
    print("result", compiled(x)[:2].tolist())
    if device == "cuda":
        print("expandable", any(each["is_expandable"] for each in torch.cuda.memory_snapshot()))


if __name__ == "__main__":
    main(sys.argv[1])
