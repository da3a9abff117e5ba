"""Whole processes: the launcher, `listen`, forks, and what happens when the adapter vanishes."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from dynascope.wire.channel import ADDRESS_VARIABLE, TOKEN_VARIABLE, new_token
from dynascope.wire.dap import SourceBreakpoint
from dynascope.wire.from_agent import ConsoleOutput, Failure, Hello, Reply, Resumed, Stopping
from dynascope.wire.to_agent import ConfigurationDone, Configure, Detach, Resume, SetBreakpoints, Threads

from tests.support.agent.adapter_end import TIMEOUT, AdapterEnd, Doorway

pytestmark = pytest.mark.second_leg

COMPILED = """
import torch

def fn(x):
    y = x + 1
    return y * 2

"""
LINE = 5


@pytest.fixture
def doorway() -> Iterator[Doorway]:
    doorway = Doorway()
    yield doorway
    doorway.close()


@contextlib.contextmanager
def process(*command: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
    running = subprocess.Popen(
        [sys.executable, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **variables},
        start_new_session=True,
    )
    try:
        yield running
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        running.communicate()


@contextlib.contextmanager
def launched(doorway: Doorway, *program: str) -> Iterator[tuple[subprocess.Popen[str], AdapterEnd]]:
    """A program under the launcher, held before its first line."""
    token = new_token()
    variables = {ADDRESS_VARIABLE: doorway.address, TOKEN_VARIABLE: token}
    with process("-m", "dynascope.agent.session.startup.launcher", *program, **variables) as running:
        adapter, hello = doorway.accept(token)
        assert hello.suspension == "own loop"
        assert isinstance(adapter.ask(Configure), Reply)
        yield running, adapter


def breakpoint_at(adapter: AdapterEnd, path: Path, line: int) -> None:
    reply = adapter.ask(SetBreakpoints, path=str(path), breakpoints=[SourceBreakpoint(id=1, line=line)])
    assert isinstance(reply, Reply)


@pytest.mark.real_processes
def test_a_launched_program_stops_and_runs_to_its_end(doorway: Doorway, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(COMPILED + "torch.compile(fn, backend='eager')(torch.ones(2)); print('end')\n")
    with launched(doorway, str(program)) as (running, adapter):
        breakpoint_at(adapter, program, LINE)
        adapter.ask(ConfigurationDone)
        stop = adapter.expect(Stopping)
        assert [(frame.name, frame.line) for frame in stop.frames] == [("fn [0/0]", LINE), ("<module>", 8)]
        assert stop.symbolic_frames == 1
        assert stop.own_loop
        assert b"MainThread" in bytes(adapter.ask(Threads).body)  # type: ignore[union-attr]
        assert isinstance(adapter.ask(Resume, thread_ident=stop.thread_ident + 1, command="next"), Failure)
        adapter.ask(Resume, thread_ident=stop.thread_ident, command="next")
        assert adapter.expect(Stopping).frames[0].line == LINE + 1
        adapter.ask(Resume, thread_ident=stop.thread_ident, command="continue")
        assert running.communicate(timeout=TIMEOUT)[0] == "end\n"
        assert running.returncode == 0


PROBE = "import sys, os\nprint(sys.argv, sys.path[0], __name__, __file__ if '__file__' in dir() else None)\n"


@pytest.mark.parametrize("how", ["file", "module", "package", "code", "folder"])
def test_the_program_finds_itself_as_under_python(doorway: Doorway, tmp_path: Path, how: str) -> None:
    (tmp_path / "probe.py").write_text(PROBE)
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("")
    (tmp_path / "pack" / "__main__.py").write_text(PROBE)
    program = {
        "file": ["probe.py"],
        "module": ["-m", "probe"],
        "package": ["-m", "pack"],
        "code": ["-c", PROBE],
        "folder": ["pack"],
    }[how]
    with contextlib.chdir(tmp_path):
        plain = subprocess.run([sys.executable, *program, "-x", "y"], capture_output=True, text=True, check=True)
        with launched(doorway, *program, "-x", "y") as (running, adapter):
            adapter.ask(ConfigurationDone)
            out, err = running.communicate(timeout=TIMEOUT)
    assert (out, err) == (plain.stdout, plain.stderr)


@pytest.mark.parametrize(
    "ending",
    [
        "raise SystemExit(3)",
        "import sys; sys.exit('why')",
        "1 / 0",
        "def f(): g()\nf()",
        "raise KeyboardInterrupt",
        "x =",
    ],
)
def test_the_program_ends_as_under_python(doorway: Doorway, tmp_path: Path, ending: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(f"print('begun', flush=True)\n{ending}\n")
    plain = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False)
    with launched(doorway, str(program)) as (running, adapter):
        adapter.ask(ConfigurationDone)
        out, err = running.communicate(timeout=TIMEOUT)
    assert (running.returncode, out, err) == (plain.returncode, plain.stdout, plain.stderr)


def test_a_missing_program_is_said_as_python_says_it(doorway: Doorway, tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.py")
    plain = subprocess.run([sys.executable, missing], capture_output=True, text=True, check=False)
    with launched(doorway, missing) as (running, adapter):
        adapter.ask(ConfigurationDone)
        assert (running.communicate(timeout=TIMEOUT)[1], running.returncode) == (plain.stderr, plain.returncode)


@pytest.mark.real_processes
def test_the_token_is_not_in_the_programs_environment(doorway: Doorway) -> None:
    with launched(doorway, "-c", "import os; print([n for n in os.environ if 'DYNASCOPE' in n])") as (running, adapter):
        adapter.ask(ConfigurationDone)
        assert running.communicate(timeout=TIMEOUT)[0] == "[]\n"


@pytest.mark.second_leg_only
@pytest.mark.real_processes
def test_when_the_adapter_vanishes_a_launched_program_ends_with_its_children(doorway: Doorway, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    start = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
    program.write_text(COMPILED + start + "torch.compile(fn, backend='eager')(torch.ones(2))\n")
    with launched(doorway, str(program)) as (running, adapter):
        breakpoint_at(adapter, program, LINE)
        adapter.ask(ConfigurationDone)
        adapter.expect(Stopping)
        children = psutil.Process(running.pid).children(recursive=True)
        assert children
        began = time.monotonic()
        adapter.vanish()
        running.wait(timeout=TIMEOUT)
        assert time.monotonic() - began < 2
        assert running.returncode == 1
        deadline = time.monotonic() + 2
        while any(map(_runs, children)):
            assert time.monotonic() < deadline


def _runs(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_after_detach_the_program_runs_on(doorway: Doorway, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(COMPILED + "torch.compile(fn, backend='eager')(torch.ones(2)); print('end')\n")
    with launched(doorway, str(program)) as (running, adapter):
        breakpoint_at(adapter, program, LINE)
        adapter.ask(ConfigurationDone)
        adapter.expect(Stopping)
        adapter.send(Detach())
        assert running.communicate(timeout=TIMEOUT)[0] == "end\n"
        assert running.returncode == 0


def test_a_forked_child_leaves_the_parents_session_alone(doorway: Doorway, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        COMPILED
        + "import os\ncompiled = torch.compile(fn, backend='eager')\nchild = os.fork()\ncompiled(torch.ones(2))\n"
        + "if child == 0: os._exit(7)\nprint('child', os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    with launched(doorway, str(program)) as (running, adapter):
        breakpoint_at(adapter, program, LINE)
        adapter.ask(ConfigurationDone)
        assert "a child process was started and is not debugged" in adapter.expect(ConsoleOutput).output
        stop = adapter.expect(Stopping)
        # not `ask`: the thread may be gone on before the answer, which would then pass over that
        adapter.send(Resume(id=99, thread_ident=stop.thread_ident, command="continue"))
        adapter.expect(Resumed)
        assert running.communicate(timeout=TIMEOUT)[0] == "child 7\n"


LISTENING = (
    COMPILED
    + "import dynascope\nprint(*dynascope.listen(runtime=False), flush=True)\ndynascope.wait_for_client()\n"
    + "compiled = torch.compile(fn, backend='eager')\ncompiled(torch.ones(2)); dynascope.breakpoint()\n"
    + "torch._dynamo.reset()\nprint('again', flush=True); input()\ncompiled(torch.ones(2)); print('end')\n"
)


@contextlib.contextmanager
def listening(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], tuple[str, int], str, Path]]:
    program, token = tmp_path / "program.py", new_token()
    program.write_text(LISTENING)
    with process(str(program), DYNASCOPE_TOKEN=token) as running:
        assert running.stdout is not None
        host, port = running.stdout.readline().split()
        yield running, (host, int(port)), token, program


def knock(address: tuple[str, int], line: bytes) -> tuple[socket.socket, bytes]:
    connection = socket.create_connection(address, timeout=TIMEOUT)
    connection.sendall(line)
    answer = b""
    while not answer.endswith(b"\n") and (byte := connection.recv(1)):
        answer += byte
    connection.settimeout(None)
    return connection, answer


@pytest.mark.parametrize(
    "line",
    [
        b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"DYNASCOPE %s agent\n" % (b"0" * 64),
        b"DYNASCOPE\n",
        b"x" * 5000,
        b"\xff\xfe\n",
        b'{"kind":"configure","id":1}\n',
    ],
)
def test_who_does_not_know_the_token_is_not_answered(tmp_path: Path, line: bytes) -> None:
    with listening(tmp_path) as (_, address, _, _), contextlib.suppress(ConnectionResetError):
        assert knock(address, line)[1] == b""


def attach(address: tuple[str, int], token: str, program: Path) -> AdapterEnd:
    connection, answer = knock(address, f"DYNASCOPE {token} agent\n".encode())
    assert answer == b"OK\n"
    adapter = AdapterEnd(connection)
    assert adapter.expect(Hello).suspension == "own loop"
    adapter.ask(Configure)
    breakpoint_at(adapter, program, LINE)
    adapter.ask(ConfigurationDone)
    return adapter


def test_the_program_runs_on_when_its_adapter_vanishes_and_can_be_attached_to_again(tmp_path: Path) -> None:
    with listening(tmp_path) as (running, address, token, program):
        assert running.stdin is not None
        assert running.stdout is not None
        adapter = attach(address, token, program)
        adapter.expect(Stopping)
        adapter.vanish()
        assert running.stdout.readline() == "again\n"
        adapter = attach(address, token, program)
        running.stdin.write("\n")
        running.stdin.flush()
        adapter.expect(Stopping)
        adapter.send(Detach())
        assert running.stdout.readline() == "end\n"


def test_the_token_is_left_where_only_its_user_can_read_it(tmp_path: Path) -> None:
    code = "import dynascope; print(dynascope.listen(runtime=False)[1], flush=True); input()"
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    variables = {**os.environ, "XDG_RUNTIME_DIR": str(runtime)}
    variables.pop(TOKEN_VARIABLE, None)
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=variables
    ) as running:
        assert running.stdout is not None
        port = running.stdout.readline().strip()
        file = runtime / "dynascope" / f"listen-{port}.json"
        assert file.stat().st_mode & 0o777 == 0o600
        assert file.parent.stat().st_mode & 0o777 == 0o700
        assert re.fullmatch("[0-9a-f]{64}", json.loads(file.read_text())["token"])
        running.communicate("\n", timeout=TIMEOUT)
        assert not file.exists()
