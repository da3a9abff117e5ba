"""Every test of the backward begins and ends with compiled autograd as a new process has it."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
import torch
from dynascope import compiled_autograd


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    torch._dynamo.reset()
    compiled_autograd.reset()
    torch.manual_seed(0)
    yield
    torch._dynamo.reset()
    compiled_autograd.reset()
    # torch never leaves the compile context of a capture that failed: later compiles would be numbered below it, and
    # lose their own when the abandoned context manager is collected
    if vars(torch._guards._TLS).get("compile_context") is not None:
        gc.collect()
        vars(torch._guards._TLS).pop("compile_context", None)


@pytest.fixture
def exact() -> Iterator[None]:
    """Convolutions on a GPU in full float32, by algorithms that give the same twice."""
    with torch.backends.cudnn.flags(enabled=True, deterministic=True, allow_tf32=False):
        yield
        torch.cuda.synchronize()
