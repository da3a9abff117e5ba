"""debugpy in a running process: it gets there whatever the client does meanwhile, or leaves nothing there."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from dynascope import debugpy_injector
from dynascope.dap.program import calls_by_gdb
from dynascope.dap.program.attach import _may_trace

from tests.support.dap.client import DapClient

# `setup`, `decode` and `json` are names that debugpy's own injection assigns to
PROGRAM = """\
import os, signal, sys, threading, time
setup = decode = json = "the program's"
signal.signal(signal.SIGUSR1, lambda *_: ended.set())
ended = threading.Event()
print("runs", flush=True)
while not ended.wait(0.01):
    turn = 1
for _ in range(3000):  # debugpy's threads need a while to end
    if len(os.listdir("/proc/self/task")) > 1:
        time.sleep(0.01)
print(setup, decode, json, threading.active_count(), len(os.listdir("/proc/self/task")))
"""
PLAIN = "the program's the program's the program's 1 1\n"


@pytest.fixture
def program(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, str(path)], stdout=pipe, stderr=pipe, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    yield process
    process.kill()
    process.communicate()


def injected_somewhere() -> bool:
    if sys.platform != "linux" or not debugpy_injector.gdb_command():
        return False
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        return _may_trace(process.pid) and asyncio.run(calls_by_gdb.complaint()) is None
    finally:
        process.communicate()


traced = pytest.mark.skipif(not injected_somewhere(), reason="needs gdb that can call functions in processes here")


def end(program: subprocess.Popen[str]) -> tuple[int, str, str]:
    """The exit code, stdout and stderr of a program that is told to end."""
    program.send_signal(10)
    out, err = program.communicate(timeout=60)
    return program.returncode, out, err


@traced
def test_a_running_program_is_attached_to_and_left(client: DapClient, program: subprocess.Popen[str], tmp_path: Path):
    client.attach({"processId": program.pid}, {tmp_path / "program.py": [7]})
    assert client.wait_for_stop().evaluate("setup").result == '"the program\'s"'
    client.close()
    assert end(program) == (0, PLAIN, "")


@traced
def test_the_client_vanishes_during_the_injection(
    spawn: Callable[..., DapClient], program: subprocess.Popen[str], tmp_path: Path
):
    """At several moments: gdb is about to stop the program, has stopped it, has called Python there."""
    breath = threading.Event()
    for moment in ("debugpyWaitingForServer", "gdb", "loaded"):
        client = spawn()
        client.initialize()
        client.send("attach", {"processId": program.pid})
        reached = {
            "debugpyWaitingForServer": lambda: True,
            "gdb": lambda: "TracerPid:\t0" not in Path(f"/proc/{program.pid}/status").read_text(),
            "loaded": lambda: "attach_linux" in Path(f"/proc/{program.pid}/maps").read_text(),
        }[moment]
        while not reached():
            assert program.poll() is None
            breath.wait(0.002)  # else it takes a processor from what it waits for
        client.close()
        while "TracerPid:\t0" not in Path(f"/proc/{program.pid}/status").read_text():
            assert program.poll() is None
            breath.wait(0.002)
    assert end(program) == (0, PLAIN, "")


def test_nothing_listens_any_more():
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
    debugpy_injector.attach_if_waited_for(address, "", "raise AssertionError")


ENDS_MEANWHILE = """\
import os, socket, sys, threading
from dynascope.debugpy_injector import attach_if_waited_for
server = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=lambda: server.accept()[0].close()).start()
address = server.getsockname()
attach_if_waited_for(address, sys.argv[1], f"import debugpy; debugpy.connect({address})")
print(threading.active_count(), len(os.listdir("/proc/self/task")), sys.gettrace())
"""


def test_the_adapter_ends_when_the_program_has_connected():
    """A program then waited for ever, or at its end for threads of debugpy."""
    import debugpy

    folder = str(Path(debugpy.__file__).parents[1])
    command = [sys.executable, "-c", ENDS_MEANWHILE, folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split()[0] == "1" and done.stdout.split()[2] == "None"


GDB = """\
#!/bin/sh
case "$*" in *auto-solib-add*) echo 'No symbol "dlopen" in current context.'; exit 1;; esac
echo attached
"""


@pytest.mark.parametrize("chosen", [False, True])
def test_gdb_gets_all_libraries_when_few_are_not_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], chosen: bool
):
    (tmp_path / "gdb").write_text(GDB)
    (tmp_path / "gdb").chmod(0o755)
    monkeypatch.setattr(debugpy_injector, "has_package", lambda: False)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    if chosen:
        environment["PYDEVD_GDB_SCAN_SHARED_LIBRARIES"] = "libmine"
    debugpy_injector._run_gdb("gdb --pid 1 --batch --eval-command='detach'", environment)
    assert capfd.readouterr().out == "attached\n"
