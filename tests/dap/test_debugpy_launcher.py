"""debugpy's launcher: forked early for a program without a terminal, and gone when it is not needed."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.support.dap.client import DapClient
from tests.support.dap.launches import launch

pytestmark = [pytest.mark.second_leg, pytest.mark.real_processes]

PROGRAM = """\
import os, sys
seen = [os.getcwd(), os.environ["WANTED"], *sys.argv[1:]]
end = True
"""


def descendants(client: DapClient) -> list[list[str]]:
    assert client.process is not None
    commands = []
    for process in psutil.Process(client.process.pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it has ended
            commands.append(process.cmdline())
    return commands


@pytest.mark.parametrize("own_python", [True, False])
def test_the_program_gets_its_folder_environment_and_arguments(client: DapClient, tmp_path: Path, own_python: bool):
    path, python = tmp_path / "program.py", tmp_path / "python"
    path.write_text(PROGRAM)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    folder = tmp_path / "a folder"
    folder.mkdir()
    more = {} if own_python else {"python": str(python)}
    configuration = launch(path, cwd=str(folder), env={"WANTED": "ä \n"}, args=["one", "two words"], **more)
    client.launch(configuration, {path: [3]})
    assert client.wait_for_stop().evaluate("seen").result == repr([str(folder), "ä \n", "one", "two words"])
    launchers = [command for command in descendants(client) if os.path.join("debugpy", "launcher") in " ".join(command)]
    assert bool(launchers) is not own_python, "the launcher has an interpreter of its own for another Python only"


def test_no_launcher_waits_in_a_session_without_debugpy(client: DapClient, tmp_path: Path):
    path = tmp_path / "program.py"
    path.write_text("while True:\n    pass\n")
    client.launch(launch(path, runtime=False))
    end = time.monotonic() + 30
    while any("dynascope.debugpy_adapter" in command for command in descendants(client)):
        assert time.monotonic() < end, descendants(client)
        time.sleep(0.05)


LATE_MAIN_THREAD = """\
import socket, sys
from dynascope import debugpy_adapter

def settings():
    # as after a launch that came before the main thread was here
    from debugpy.adapter import launchers
    launchers.listener = socket.socket()
    launchers.listener.close()
    return {debugpy_adapter.TOKEN_VARIABLE: "token"}

debugpy_adapter._settings = settings
debugpy_adapter.main()
"""


def test_debugpy_serves_though_a_launch_comes_before_it_would_report_its_port() -> None:
    process = subprocess.Popen([sys.executable, "-c", LATE_MAIN_THREAD], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None and process.stdout is not None
    message = b'{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"dynascope"}}'
    with process:
        process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(message), message))
        process.stdin.flush()
        read = b""
        while b"supportsConfigurationDoneRequest" not in read:
            part = process.stdout.read1()
            assert part, f"it has ended after {read.decode()}"
            read += part
        process.kill()
