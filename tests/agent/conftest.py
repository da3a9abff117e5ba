"""Agents of these tests run in pytest's process, whose own time limits stay as they are."""

from __future__ import annotations

import pytest
from dynascope.agent.suspension import time_limits


@pytest.fixture(autouse=True)
def own_time_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_limits, "_of_the_test", lambda: None)
