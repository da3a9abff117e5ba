"""No port that a session opens lets anybody evaluate without the token: not this user, and no other."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.support.dap.client import DapClient
from tests.support.dap.running import Running
from tests.support.marks import line, program

STRANGER = program("stranger.py")
SERVING = program("serving.py")
PARENT = program("parent.py")
SUCCESS = re.compile(r"EVALUATED|LAUNCHED|GOT-TOKEN|ACCEPTED")
NOBODY = 65534


def as_this_user(*command: str) -> list[str]:
    return [sys.executable, *command]


def as_another_user(*command: str) -> list[str]:
    ids = ("--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups")
    return ["setpriv", *ids, "/usr/bin/python3", *command]


USERS = [
    as_this_user,
    pytest.param(
        as_another_user,
        marks=pytest.mark.skipif(
            os.getuid() != 0 or not (shutil.which("setpriv") and os.path.exists("/usr/bin/python3")),
            reason="only root can become another user",
        ),
    ),
]


MARK = "DYNASCOPE_TEST_OF_STRANGERS"


def ports_of(mark: str) -> list[int]:
    """Return every TCP port on which a process with this mark in its environment listens."""
    found: set[int] = set()
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark:
                found |= {c.laddr.port for c in process.net_connections("tcp") if c.status == psutil.CONN_LISTEN}
        except (psutil.Error, OSError):
            continue
    return sorted(found)


def what_a_stranger_achieves(as_user: Callable[..., list[str]], ports: list[int], folder: Path) -> str:
    folder.chmod(0o755)
    script = folder / "stranger.py"
    shutil.copy(STRANGER, script)
    script.chmod(0o644)
    done = subprocess.run(
        as_user(str(script), *map(str, ports)), capture_output=True, text=True, timeout=240, check=True
    )
    assert done.stdout.count("\n") == 4 * len(ports), done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that another user may enter: pytest's own are private."""
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@pytest.mark.parametrize("as_user", USERS)
def test_a_program_that_listens(client: DapClient, folder: Path, as_user: Callable[..., list[str]]) -> None:
    running = Running(SERVING, environment={MARK: folder.name})
    try:
        client.attach({"connect": running.connect}, {SERVING: [line(SERVING, "counted")]})
        client.wait_for_stop()
        ports = ports_of(folder.name)
        assert running.connect["port"] in ports and len(ports) >= 3  # debugpy's adapter has two
        achieved = what_a_stranger_achieves(as_user, ports, folder)
        assert not SUCCESS.search(achieved), achieved
        client.set_breakpoints(SERVING)
        client.request("disconnect")
        running.assert_runs_on()
    finally:
        running.process.kill()
        running.process.wait()


@pytest.mark.parametrize("as_user", USERS)
def test_a_program_that_was_launched(
    spawn: Callable[..., DapClient], folder: Path, as_user: Callable[..., list[str]]
) -> None:
    client = spawn(environment={MARK: folder.name})
    client.launch({"program": str(PARENT), "console": "internalConsole"}, {PARENT: [line(PARENT, "ended")]})
    stop = client.wait_for_stop()
    ports = ports_of(folder.name)
    assert len(ports) >= 2  # of debugpy's adapter
    achieved = what_a_stranger_achieves(as_user, ports, folder)
    assert not SUCCESS.search(achieved), achieved
    stop.resume()


def test_many_connections_without_a_token_leave_room_for_one_with_it(client: DapClient) -> None:
    running = Running(SERVING)
    idle: list[socket.socket] = []
    threads = psutil.Process(running.process.pid).num_threads()
    try:
        for _ in range(300):
            idle.append(socket.create_connection((running.connect["host"], running.connect["port"]), timeout=20))
        assert psutil.Process(running.process.pid).num_threads() - threads < 10
        client.attach({"connect": running.connect}, {SERVING: [line(SERVING, "traced")]})
        assert client.wait_for_stop().at_compile_time
    finally:
        for connection in idle:
            connection.close()
        running.process.kill()
        running.process.wait()


def test_a_silent_connection_is_closed() -> None:
    running = Running(SERVING)
    try:
        with socket.create_connection((running.connect["host"], running.connect["port"]), timeout=40) as silent:
            began = time.monotonic()
            silent.sendall(b"DYNASCOPE ")
            assert silent.recv(1) == b""
            assert time.monotonic() - began < 30
    finally:
        running.process.kill()
        running.process.wait()
