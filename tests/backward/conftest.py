"""Every test of the backward begins and ends with compiled autograd as a new process has it."""

from __future__ import annotations

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
