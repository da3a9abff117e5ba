"""Write into an argument with CUDA graphs on, and leave one alone: `without_cuda_graphs.py DEVICE`."""

from __future__ import annotations

import sys

import torch


@torch.compile(mode="reduce-overhead")
def add(total: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    total.add_(x.sum())  #: written
    return total * 2


@torch.compile(mode="reduce-overhead")
def scale(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def main(device: str) -> None:
    x = torch.ones(4, device=device)
    for _ in range(3):
        torch.compiler.cudagraph_mark_step_begin()
        print(float(add(torch.zeros((), device=device), x)), float(scale(x).sum()))


if __name__ == "__main__":
    main(sys.argv[1])
