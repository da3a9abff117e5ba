"""What counts on while a thread is stopped: the limit of pytest-timeout."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from dynascope.agent.suspension.time_limits import TimeLimits

LATE = """
import time
from dynascope.agent.suspension.time_limits import TimeLimits

def test_it():
    limits = TimeLimits(lambda message: print(message.output))
    {tells}
    end = time.monotonic() + 2
    while time.monotonic() < end:
        time.sleep(0.01)
"""


@pytest.mark.parametrize("method", ["signal", pytest.param("thread", marks=pytest.mark.matrix)])
@pytest.mark.parametrize("tells", [True, False])
def test_a_test_that_was_stopped_may_take_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, tells: bool
) -> None:
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    path = tmp_path / "test_late.py"
    path.write_text(LATE.format(tells="limits.tell(); limits.tell()" if tells else ""))
    options = ["-s", "-p", "no:cacheprovider", f"--timeout-method={method}", "--timeout=1", str(path)]
    run = subprocess.run([sys.executable, "-m", "pytest", *options], capture_output=True, text=True, cwd=tmp_path)
    assert (run.returncode == 0) == tells, run.stdout
    assert run.stdout.count("pytest-timeout gives this test") == tells


def test_nothing_is_told_where_nothing_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "pytest_timeout", raising=False)
    told: list[object] = []
    TimeLimits(told.append).tell()
    assert told == []
