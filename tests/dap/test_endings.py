"""How sessions end: whatever was launched is gone with all its children, whatever was attached to runs on."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support.dap.client import DapClient
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import line, one_in, program

pytestmark = pytest.mark.real_processes

FAMILY = program("family.py")
WITHIN = 2.0
"""Seconds after which nothing may be left."""


def alive(pids: list[int]) -> list[int]:
    left = []
    for pid in pids:
        try:
            if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                left.append(pid)
        except psutil.NoSuchProcess:
            pass
    return left


def assert_gone(pids: list[int], since: float) -> None:
    while left := alive(pids):
        assert time.monotonic() - since < WITHIN, [psutil.Process(pid).cmdline() for pid in left]
        time.sleep(0.02)


def read_pids(file: Path) -> list[int]:
    end = time.monotonic() + 30
    while not (file.exists() and file.read_text()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return [int(pid) for pid in file.read_text().split()]


def disconnect(client: DapClient) -> None:
    client.request("disconnect", {"terminateDebuggee": True})


def vanish(client: DapClient) -> None:
    client.vanish()


def terminate(client: DapClient) -> None:
    client.request("terminate")


def kill_adapter_softly(client: DapClient) -> None:
    assert client.process is not None
    client.process.send_signal(signal.SIGTERM)


ENDINGS = [disconnect, vanish, terminate, kill_adapter_softly]


@pytest.mark.parametrize("end", one_in(2, ENDINGS))
@WITH_AND_WITHOUT_DEBUGPY
def test_a_launched_program_ends_with_all_its_children(
    client: DapClient, tmp_path: Path, runtime: bool, end: Callable[[DapClient], None]
) -> None:
    file = tmp_path / "pids"
    configuration = {"program": str(FAMILY), "args": [str(file)], "runtime": runtime, "subProcess": False}
    client.launch(configuration | {"console": "internalConsole"})
    pids = read_pids(file)
    assert len(alive(pids)) == 6
    start = time.monotonic()
    end(client)
    assert_gone(pids, start)
    if end is not terminate:
        assert client.process is not None and client.process.wait(10) == 0


@pytest.mark.parametrize("end", [pytest.param(disconnect, marks=pytest.mark.matrix), vanish])
@WITH_AND_WITHOUT_DEBUGPY
def test_a_program_launched_and_stopped_at_compile_time_ends_with_all_its_children(
    client: DapClient, tmp_path: Path, runtime: bool, end: Callable[[DapClient], None]
) -> None:
    file = tmp_path / "pids"
    configuration = {"program": str(FAMILY), "args": [str(file), "--torch"], "runtime": runtime, "subProcess": False}
    client.launch(configuration | {"console": "internalConsole"}, {FAMILY: [line(FAMILY, "traced")]})
    assert client.wait_for_stop().at_compile_time
    pids = read_pids(file)
    start = time.monotonic()
    end(client)
    assert_gone(pids, start)


def test_nothing_is_left_when_the_adapter_is_killed(client: DapClient, tmp_path: Path) -> None:
    """Then nobody cleans up but debugpy's adapter and the agent: at least the program itself is gone."""
    file = tmp_path / "pids"
    configuration: dict[str, Any] = {"program": str(FAMILY), "args": [str(file)], "console": "internalConsole"}
    client.launch(configuration | {"subProcess": False})
    pids = read_pids(file)
    assert client.process is not None
    start = time.monotonic()
    client.process.kill()
    assert_gone(pids[:1], start)
    for pid in alive(pids):
        os.kill(pid, signal.SIGKILL)
