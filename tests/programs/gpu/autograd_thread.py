"""Compile in the backward of a custom function, which autograd calls on its thread of the device: `… DEVICE`."""

from __future__ import annotations

import sys
import threading
from typing import Any

import torch


@torch.compile(backend="aot_eager")
def clipped(gradient: torch.Tensor) -> torch.Tensor:
    bounded = gradient.clamp(-1, 1)
    return bounded * 0.5  #: trace


class Clip(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: torch.Tensor) -> torch.Tensor:
        return inputs * 1

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        result = clipped(gradient)  #: call
        return result.contiguous()  #: return


def main(device: str) -> None:
    leaf = torch.ones(3, device=device, requires_grad=True)
    threads: list[bool] = []
    leaf.register_hook(lambda gradient: threads.append(threading.current_thread() is threading.main_thread()))
    for _ in range(2):
        leaf.grad = None
        (Clip.apply(leaf) * 4).sum().backward()
        print("gradient", leaf.grad.tolist(), "on the main thread", threads[-1])
    # Without Python: once it is over, the thread has let go of what the backward before held. A thread that still waits
    # for the GIL when the interpreter ends is ended by Python, and the process aborted by C++.
    torch.ones(3, device=device, requires_grad=True).sum().backward()


if __name__ == "__main__":
    main(sys.argv[1])
