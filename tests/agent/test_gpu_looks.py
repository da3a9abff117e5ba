"""Looking at a stop runs no operator, so that it never waits for a GPU; counted there, and on the CPU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.profiler import ProfilerActivity, profile

from tests.support import cuda_stand_in
from tests.support.devices import DEVICES, place
from tests.support.nonperturbation.stopped import Stopped, stop_in

pytestmark = pytest.mark.second_leg

WAITING = ("Synchronize", "cudaMemcpy", "cudaEventQuery", "cudaMalloc", "cudaLaunchKernel")
"""What the CUDA runtime's functions are called that wait for the GPU, copy from it, or give it work."""


def look(stop: Stopped) -> int:
    """Read all rows of all scopes of all frames, three levels deep; return how many there were."""

    def rows_below(reference: int, depth: int) -> int:
        rows = stop.rows(reference) if reference and depth else []
        return len(rows) + sum(rows_below(row.variables_reference, depth - 1) for row in rows)

    return sum(
        rows_below(scope.variables_reference, 3) for frame in range(len(stop.frames)) for scope in stop.scopes(frame)
    )


def calls_of_the_runtime(action: Callable[[], object]) -> Counter[str]:
    """Count the calls of the CUDA runtime that wait for the GPU, copy or give it work, as CUPTI sees them."""
    if cuda_stand_in.is_used():
        before = cuda_stand_in.calls()
        action()
        return cuda_stand_in.calls() - before
    with profile(activities=[ProfilerActivity.CUDA]) as profiled:
        action()
    return Counter(event.name for event in profiled.events() if any(part in event.name for part in WAITING))


def operators(action: Callable[[], object]) -> set[str]:
    """Return the names of the operators that run, on real tensors and on fake ones."""
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        action()
    return {event.name for event in profiled.events() if event.name.startswith("aten::")}


@pytest.mark.parametrize("device", DEVICES)
def test_a_look_runs_no_operator_and_never_waits_for_the_device(device: str):
    def forward(x: Any, weight: Any) -> Any:
        hidden = x @ weight
        return hidden.relu()  #: stop

    read: list[int] = []

    def inspect_stop(stop: Stopped) -> None:
        assert stop.scope("Locals")["hidden"].value == f"f32[8, 4]{place(device)}"
        assert operators(lambda: read.append(look(stop))) == set()
        if device == "cuda":
            calls_of_the_runtime(lambda: None)  # the first count in a process may hold how CUPTI begins
            assert not calls_of_the_runtime(lambda: look(stop)) - calls_of_the_runtime(lambda: None)
            torch.cuda.set_sync_debug_mode("error")
            try:
                look(stop)
            finally:
                torch.cuda.set_sync_debug_mode("default")

    stop_in(forward, torch.ones(8, 16, device=device), torch.ones(16, 4, device=device), inspect_stop=inspect_stop)
    assert read[0] > 100


def test_an_operator_would_be_seen():
    def inspect_stop(stop: Stopped) -> None:
        assert "aten::sum" in operators(lambda: stop.evaluate("x.sum()"))

    def forward(x: Any) -> Any:
        return x + 1  #: stop

    stop_in(forward, torch.ones(3), inspect_stop=inspect_stop)


@pytest.mark.cuda
def test_what_waits_for_the_gpu_would_be_counted():
    x = torch.ones(3, device="cuda")
    found = calls_of_the_runtime(lambda: x.sum().item()) - calls_of_the_runtime(lambda: None)
    assert any("Synchronize" in name or "Memcpy" in name for name in found), found


@pytest.mark.cuda
def test_a_stop_leaves_the_stream_on_which_its_program_compiles():
    def forward(x: Any) -> Any:
        y = x + 1
        return y * 2  #: stop

    stream = torch.cuda.Stream()

    def inspect_stop(stop: Stopped) -> None:
        look(stop)
        stop.evaluate("(y @ y.t()).relu()")
        stop.evaluate("torch.rand(3, device='cuda') + y.mean()")

    with torch.cuda.stream(stream):
        stop_in(forward, torch.ones(8, 16, device="cuda"), inspect_stop=inspect_stop)
        assert torch.cuda.current_stream() == stream
