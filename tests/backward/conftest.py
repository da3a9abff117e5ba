"""Every test of the backward begins and ends with compiled autograd as a new process has it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from dynascope import compiled_autograd

from tests.backward.gpu_table import Table

_gpu_table = Table()


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    torch._dynamo.reset()
    compiled_autograd.reset()
    torch.manual_seed(0)
    yield
    torch._dynamo.reset()
    compiled_autograd.reset()


@pytest.fixture
def gpu_table() -> Table:
    """What the tests on a GPU gave."""
    return _gpu_table


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in _gpu_table.lines():
        terminalreporter.write_line(line)
