"""No port that a session opens lets anybody evaluate without the token: not this user, and no other."""

from __future__ import annotations

import os
import queue
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
from dynascope.wire.token_server import MOST_WAITING

from tests.support.dap.client import Body, DapClient
from tests.support.dap.running import Running
from tests.support.marks import line, program

pytestmark = pytest.mark.real_processes

STRANGER = program("stranger.py")
POSER = program("poser.py")
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
        marks=[
            pytest.mark.matrix,
            pytest.mark.skipif(
                os.getuid() != 0 or not (shutil.which("setpriv") and os.path.exists("/usr/bin/python3")),
                reason="only root can become another user",
            ),
        ],
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
    achieved = run_stranger(STRANGER, as_user, ports, folder)
    assert achieved.count("\n") == 4 * len(ports), achieved
    return achieved


def run_stranger(script: Path, as_user: Callable[..., list[str]], numbers: list[int], folder: Path) -> str:
    folder.chmod(0o755)
    copied = folder / script.name
    shutil.copy(script, copied)
    copied.chmod(0o644)
    return subprocess.run(
        as_user(str(copied), *map(str, numbers)), capture_output=True, text=True, timeout=240, check=True
    ).stdout


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that another user may enter: pytest's own are private."""
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@pytest.mark.matrix
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


@pytest.mark.matrix
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


@pytest.mark.matrix
@pytest.mark.parametrize("as_user", USERS[1:])
def test_another_user_cannot_pose_as_a_child_process(
    spawn: Callable[..., DapClient], folder: Path, as_user: Callable[..., list[str]]
) -> None:
    client = spawn(environment={MARK: folder.name})
    children: queue.Queue[Body] = queue.Queue()
    client.handlers["startDebugging"] = lambda arguments: children.put(arguments) or {}
    client.initialize(supportsStartDebuggingRequest=True)
    client.launch({"program": str(PARENT), "console": "internalConsole", "env": {"SECRET": "hunter2"}})
    parent = client.wait_for_event("process")["body"]["systemProcessId"]
    child = children.get(timeout=120)
    assert "hunter2" not in str(child)
    ports = ports_of(folder.name)
    told = run_stranger(POSER, as_user, [parent, *ports], folder)
    assert "with a key" in told, "the child's command line shows none: the test proves less than it says"
    assert "TOLD" not in told, told
    assert children.empty()


def test_the_key_to_debugpys_port_is_not_in_the_command_line(client: DapClient) -> None:
    client.launch({"program": str(PARENT), "console": "internalConsole", "stopOnEntry": True})
    stop = client.wait_for_stop()
    command = psutil.Process(client.wait_for_event("process")["body"]["systemProcessId"]).cmdline()
    assert "--connect" in command and "--adapter-access-token" not in command
    assert stop.evaluate("'DYNASCOPE_DEBUGPY_KEY' in __import__('os').environ").result == "False"


@pytest.mark.matrix
def test_many_connections_without_a_token_leave_room_for_one_with_it(client: DapClient) -> None:
    running = Running(SERVING)
    idle: list[socket.socket] = []
    threads = psutil.Process(running.process.pid).num_threads()
    try:
        for _ in range(300):
            idle.append(socket.create_connection((running.connect["host"], running.connect["port"]), timeout=20))
        # the program may begin threads of its own meanwhile
        assert psutil.Process(running.process.pid).num_threads() - threads < 2 * MOST_WAITING
        client.attach({"connect": running.connect}, {SERVING: [line(SERVING, "traced")]})
        assert client.wait_for_stop().at_compile_time
    finally:
        for connection in idle:
            connection.close()
        running.process.kill()
        running.process.wait()


@pytest.mark.matrix
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
