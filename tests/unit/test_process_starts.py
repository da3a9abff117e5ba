"""Which processes that a program starts may run Python, so that a session speaks of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from dynascope.agent.program.process_starts import may_run_python, starter_of_python


@pytest.mark.parametrize(
    "command",
    [
        [sys.executable, "train.py"],
        ["/bin/sh", "-c", "make train"],
        ["env", "A=1", "python3", "-m", "train"],
        ["mpirun", "train.py"],
    ],
)
def test_commands_that_may_run_python(command: list[str]) -> None:
    assert may_run_python(command)


def test_a_script_may_run_python(tmp_path: Path) -> None:
    script = tmp_path / "torchrun"
    script.write_text("#!/usr/bin/env python3\n")
    script.chmod(0o755)
    assert may_run_python([str(script), "train"])


@pytest.mark.parametrize("command", [["/sbin/ldconfig", "-p"], ["uname", "-p"], ["/nowhere/tool"], []])
def test_commands_that_do_not(command: list[str]) -> None:
    assert not may_run_python(command)


@pytest.mark.parametrize(
    ("command", "starter"),
    [
        (["/usr/bin/python3", "train.py"], ""),
        (["/usr/bin/env", "-i", "python3", "train.py"], "env"),
        (["/bin/sh", "-c", "python train.py"], "sh"),
        (["make", "train"], None),
    ],
)
def test_what_starts_python(command: list[str], starter: str | None) -> None:
    assert starter_of_python(command) == starter
