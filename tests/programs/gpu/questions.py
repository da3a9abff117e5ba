"""Compile a function for two sizes, with random numbers of the device in it: `questions.py DEVICE`."""

from __future__ import annotations

import sys
import zlib

import torch


def forward(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    hidden = torch.nn.functional.dropout(x @ weight, 0.5)
    return hidden.relu().sum()  #: trace


def main(device: str) -> None:
    torch.manual_seed(0)
    weight = torch.randn(16, 16, device=device)
    compiled = torch.compile(forward, dynamic=False)
    for rows in (4, 8, 4):
        x = torch.ones(rows, 16, device=device)
        print(rows, f"{float(compiled(x, weight)):.2f}", float(torch.rand((), device=device)))
    state = torch.cuda.get_rng_state() if device == "cuda" else torch.get_rng_state()
    print("random numbers", zlib.crc32(bytes(state.tolist())))


if __name__ == "__main__":
    main(sys.argv[1])
