"""The client of `dynascope mcp` is killed at any moment: neither the server nor a program of it is left."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
import uuid
from pathlib import Path

import psutil
import pytest

pytest.importorskip("torch")
pytest.importorskip("mcp")

from tests.support.dap.client import adapter_environment
from tests.support.marks import ROOT

pytestmark = [pytest.mark.matrix, pytest.mark.main_leg, pytest.mark.timeout(600)]

MOMENTS = 20
LONGEST = 12.0
"""Seconds: the client has recorded a program and stopped in another by then."""
MARK = "DYNASCOPE_TEST_OF_A_KILLED_CLIENT"
PROGRAM = """
import torch

@torch.compile(backend="eager")
def scaled(x):
    return x * 2

scaled(torch.ones(3))
"""
CLIENT = """
import anyio
from pathlib import Path
from tests.support.mcp_client import found, server

async def work():
    async with server(Path.cwd()) as call:
        sessions = []
        while True:
            await call("record", command="model.py")
            await call("problems")
            sessions.append(found(r"^Session (\\S+)", await call("debug", command="model.py", stops=["model.py:6"])))
            await call("look", session=sessions[-1], command="locals")
            if len(sessions) == 3:  # four may run
                await call("go", session=sessions.pop(0), how="end")

anyio.run(work)
"""


def those_of(mark: str) -> list[psutil.Process]:
    """Return the processes that were started, by the variable that they inherit."""
    found = []
    for each in psutil.process_iter():
        try:
            if each.environ().get(MARK) == mark and each.status() != psutil.STATUS_ZOMBIE:
                found.append(each)
        except psutil.Error:
            continue
    return found


@pytest.mark.parametrize(
    "moment", [random.Random(seed).uniform(0.5, LONGEST) for seed in range(MOMENTS)], ids="{:.1f}".format
)
def test_nothing_is_left(moment: float, tmp_path: Path):
    (tmp_path / "model.py").write_text(PROGRAM)
    mark = uuid.uuid4().hex
    environment = adapter_environment({MARK: mark})
    environment["PYTHONPATH"] += f"{os.pathsep}{ROOT}"
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        client.wait(moment)
    except subprocess.TimeoutExpired:
        client.kill()
    told = client.communicate()[0].decode()
    assert client.returncode == -9, told
    deadline = time.monotonic() + 60
    while (left := those_of(mark)) and time.monotonic() < deadline:
        psutil.wait_procs(left, 1)
    commands = []
    for each in left:
        commands.append(each.cmdline())
        each.kill()
    assert commands == []
