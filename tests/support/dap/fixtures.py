"""Fixtures of the adapter's tests: clients that are closed and programs that are ended, whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.dap.capability_tests import uses_its_capabilities
from tests.support.dap.client import DapClient

__all__ = ["client", "spawn", "uses_its_capabilities"]


@pytest.fixture
def spawn() -> Iterator[Callable[..., DapClient]]:
    """Starts adapters; at the end they are closed, and every message has to have been as the schema wants it."""
    clients: list[DapClient] = []

    def start(*arguments: Any, **options: Any) -> DapClient:
        clients.append(DapClient.spawn(*arguments, **options))
        return clients[-1]

    yield start
    for client in clients:
        client.close()
    for client in clients:
        assert not client.violations, "\n".join(client.violations)


@pytest.fixture
def client(spawn: Callable[..., DapClient]) -> DapClient:
    return spawn()
