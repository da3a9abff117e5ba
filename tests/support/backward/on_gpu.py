"""Backwards on a GPU, and how their gradients are compared with those of eager mode."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from tests.support.backward.programs import PROGRAMS

Gradients = Sequence[torch.Tensor | None]
ON_ONE_GPU = sorted(set(PROGRAMS) - {"distributed_data_parallel"})


def gradients(name: str) -> Gradients:
    """Of one of the programs, built and run on the GPU."""
    torch.manual_seed(0)
    with torch.device("cuda"):
        loss, leaves = PROGRAMS[name]()
    loss.backward()
    torch.cuda.synchronize()
    return [leaf.grad for leaf in leaves]


def difference(found: Gradients, expected: Gradients, rtol: float = 1.3e-6, atol: float = 1e-5) -> float:
    """The largest one between two gradients; raises AssertionError where they are not the same."""
    largest = 0.0
    for one, other in zip(found, expected, strict=True):
        if one is None or other is None:
            assert one is other
            continue
        assert one.device == other.device and one.device.type == "cuda"
        dense = one.to_dense(), other.to_dense()
        torch.testing.assert_close(*dense, rtol=rtol, atol=atol)
        largest = max(largest, float((dense[0] - dense[1]).abs().max()))
    return largest


def device_state() -> tuple[object, ...]:
    """What a stop must leave as it was; and a GPU that works, or this raises."""
    torch.cuda.synchronize()
    return (
        torch.cuda.current_device(),
        torch.cuda.current_stream(),
        torch.cuda.is_current_stream_capturing(),
    )
