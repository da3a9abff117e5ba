"""Compile while the GPU works on another stream for SECONDS: `busy.py DEVICE SECONDS`."""

from __future__ import annotations

import sys

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    doubled = x * 2
    return doubled + 1  #: trace


def keep_busy(seconds: int) -> torch.cuda.Event:
    done = torch.cuda.Event()
    with torch.cuda.stream(torch.cuda.Stream()):
        for _ in range(seconds):
            torch.cuda._sleep(2_000_000_000)  # cycles: a second at 2 GHz
        done.record()
    return done


def main(device: str, seconds: int) -> None:
    x = torch.ones(4, device=device)
    x * 2 + 1  # CUDA loads a kernel where it is first launched, and may wait for the GPU to do so
    done = keep_busy(seconds) if device == "cuda" else None
    result = torch.compile(forward, backend="aot_eager")(x)  # inductor waits for the GPU to time its kernels
    print("busy", done is not None and not done.query())
    if done is not None:
        done.synchronize()
    print("result", result.tolist())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
