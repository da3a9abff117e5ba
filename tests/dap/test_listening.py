"""`dynascope.listen()`: called again, beside another debugger, in a forked child, with the address in use."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from dynascope.wire.token_server import copy

from tests.support.dap.client import DapClient, adapter_environment
from tests.support.dap.running import Running
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import line, program

SERVING = program("serving.py")


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[[str], tuple[Running, Path]]]:
    """Starts a copy of the program whose call of `listen()` is replaced."""
    started: list[Running] = []

    def start(listening: str) -> tuple[Running, Path]:
        path = tmp_path / "listening.py"
        text = SERVING.read_text()
        assert "host, port = dynascope.listen()" in text
        path.write_text(text.replace("host, port = dynascope.listen()", listening))
        started.append(Running(path))
        return started[-1], path

    yield start
    for running in started:
        running.process.kill()
        running.process.wait()


def output_of(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=adapter_environment(), check=False)


def test_a_second_call_returns_the_address_of_the_first() -> None:
    done = output_of(
        "import dynascope; one = dynascope.listen(runtime=False);"
        "assert one == dynascope.listen() == dynascope.listen(one);"
        "assert dynascope.listen(('127.0.0.1', 1)) == one; print('same')"
    )
    assert done.stdout == "same\n", done.stderr
    assert "token in /" in done.stderr
    assert "listens on 127.0.0.1:" in done.stderr and "so not on port 1" in done.stderr


def test_an_address_in_use_is_an_error_and_leaves_nothing_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = output_of(
            "import dynascope, threading\n"
            f"try: dynascope.listen(('127.0.0.1', {port}))\n"
            "except OSError as error: print(type(error).__name__, threading.active_count())\n"
            "print(dynascope.listen(runtime=False)[1] > 0)"
        )
    assert done.stdout == "OSError 1\nTrue\n", done.stderr


def test_a_forked_child_listens_by_itself() -> None:
    done = output_of(
        "import dynascope, os, socket\n"
        "one = dynascope.listen(runtime=False)\n"
        "if os.fork() == 0:\n"
        "    assert dynascope.listen(runtime=False) != one\n"
        "    print('another', flush=True)\n"
        "    os._exit(0)\n"
        "os.wait(); print('parent', dynascope.listen() == one)"
    )
    assert done.stdout == "another\nparent True\n", done.stderr


OTHERS = "import debugpy; print('debugpy', *debugpy.listen(('127.0.0.1', 0)), flush=True)"
FIRST, SECOND = f"{OTHERS}\n    ", f"dynascope.listen(); {OTHERS}\n    "


@pytest.mark.parametrize("others", [pytest.param(FIRST, marks=pytest.mark.matrix), SECOND], ids=["first", "second"])
@pytest.mark.parametrize("attached", [False, True], ids=["listening", "attached"])
def test_beside_another_debugger_compiles_can_be_debugged(
    client: DapClient,
    spawn: Callable[..., DapClient],
    run: Callable[[str], tuple[Running, Path]],
    attached: bool,
    others: str,
) -> None:
    """As beside Jupyter's, which calls `debugpy.listen()` where its user switches it on."""
    running, path = run(f"{others}for _ in range(2): host, port = dynascope.listen()")
    if attached:
        other = spawn()
        other.attach({"connect": debugpys_address(running)})
    client.attach({"connect": running.connect}, {path: [line(path, "traced")]})
    stop = client.wait_for_stop()
    assert stop.at_compile_time and stop.where()[0] == "compiled [0/0]"
    assert "only compiles can be debugged" in client.output("important")
    client.request("disconnect")
    running.assert_runs_on()


def test_another_debugger_does_not_get_a_process_that_is_being_debugged(
    client: DapClient, run: Callable[[str], tuple[Running, Path]]
) -> None:
    running, path = run("host, port = dynascope.listen()")
    client.attach({"connect": running.connect}, {path: [line(path, "counted")]})
    stop = client.wait_for_stop()
    asked = {"expression": "__import__('debugpy').listen(0)", "frameId": stop.frames(0, 1)[0].id, "context": "repl"}
    told = client.failure("evaluate", asked)
    assert "End Dynascope's session first" in told
    client.request("disconnect")
    running.assert_runs_on()


def debugpys_address(running: Running) -> dict[str, object]:
    host, port = next(text.split()[1:] for text in running.said if text.startswith("debugpy"))
    return {"host": host, "port": int(port)}


PRINTING = """\
import sys, time
import debugpy

class Slow:
    def __init__(self, stream):
        self.stream = stream
        self.flush = stream.flush

    def write(self, text):
        is_called_by_pydevd = sys._getframe(1).f_globals is not globals()
        while is_called_by_pydevd and sys.stdout is not self:
            time.sleep(0.001)
        return self.stream.write(text)

sys.stdout = Slow(sys.stdout)
print("listening", *debugpy.listen(("127.0.0.1", 0)), flush=True)
while True:
    print("round", "and", "round", flush=True)
    time.sleep(0.001)
"""
"""A program that still prints to the stream that pydevd has put in place of its own when that is taken away."""


def test_a_program_that_prints_while_the_agent_is_started_runs_on(client: DapClient, tmp_path: Path) -> None:
    path = tmp_path / "printing.py"
    path.write_text(PRINTING)
    running = Running(path, environment={"PYTHONMALLOC": "debug"})  # what is freed is overwritten
    try:
        client.attach({"connect": running.connect})
        client.request("disconnect")
        running.assert_runs_on()
    finally:
        running.process.kill()
        running.process.wait()


class Forwarded:
    """A port of this machine that leads to another, as `ssh -L` makes it."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            while True:
                near, _ = self._server.accept()
                far = socket.create_connection(("127.0.0.1", self._to))
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=copy, args=pair, daemon=True).start()
        except OSError:
            return

    def close(self) -> None:
        self._server.close()


@WITH_AND_WITHOUT_DEBUGPY
def test_without_the_token_the_error_says_where_it_is(
    client: DapClient, run: Callable[[str], tuple[Running, Path]], runtime: bool
) -> None:
    """As through a forwarded port: no file names the token here."""
    running, _ = run("host, port = dynascope.listen()")
    forwarded = Forwarded(running.connect["port"])
    client.initialize()
    message = client.failure("attach", {"connect": {"host": "127.0.0.1", "port": forwarded.port}, "runtime": runtime})
    assert "token" in message and "listen()" in message
    forwarded.close()
    running.assert_runs_on()
