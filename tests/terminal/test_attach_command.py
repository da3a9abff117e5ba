"""`dynascope attach`, and programs that listen because their environment says so."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from click.testing import CliRunner
from dynascope.remote.command import attach as command
from dynascope.wire import listening
from dynascope.wire.listening import ListeningProgram, token_file

pytest.importorskip("torch")

from tests.support import remote
from tests.support.dap.client import adapter_environment
from tests.support.dap.running import Running
from tests.support.marks import line, program
from tests.support.terminal.debugging import debug, folder

__all__ = ["folder"]

SERVING = program("serving.py")
SSH = "ssh -T -o RemoteCommand=none"
FORWARD = "-o ControlPath=none -o ExitOnForwardFailure=yes"
RANKS = "import torch\nprint('ready', flush=True)\ninput()\n"


@pytest.fixture(autouse=True)
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put the stand-ins first, and let programs leave their files in a folder of this test."""
    (tmp_path / "run").mkdir(mode=0o700)
    for variable in ("XDG_RUNTIME_DIR", "HOME", "TMPDIR"):
        monkeypatch.setenv(variable, str(tmp_path / "run"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    return remote.install(tmp_path / "bin")


@pytest.fixture
def serving() -> Iterator[Running]:
    running = Running(SERVING)
    yield running
    running.process.kill()
    running.process.wait()


@contextmanager
def attached(*where: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Yield `dynascope attach` and what it prints until it waits."""
    process = subprocess.Popen(
        [sys.executable, "-m", "dynascope", "attach", *where],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=adapter_environment(),
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        told = ""
        for text in process.stdout:
            told += text
            if text.startswith("dynascope debug"):
                break
        yield process, told
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def pid_of_listening() -> int:
    (found,) = listening.listening()
    return found.pid


def interrupted(process: subprocess.Popen[str]) -> int:
    process.send_signal(signal.SIGINT)
    return process.wait(60)


def configuration(told: str) -> dict[str, Any]:
    return dict(json.loads(next(text for text in told.splitlines() if text.startswith("{"))))


@pytest.mark.usefixtures("folder")
def test_a_program_on_another_machine_is_debugged_and_goes_on(serving: Running, log: Path) -> None:
    there, pid = serving.connect["port"], pid_of_listening()
    with attached(f"ssh://me@GPU1:2222/{there}") as (process, told):
        named = rf"\S*serving\.py \(pid {pid}\) on ssh://me@GPU1:2222 can be debugged"
        assert re.match(named, told), told
        here = configuration(told)["connect"]["port"]
        assert here != there and f"--connect 127.0.0.1:{here}" in told
        where = ["--connect", f"127.0.0.1:{here}", "-b", f"{SERVING}:{line(SERVING, 'traced')}"]
        code, out = debug(*where, "--command", "locals")
        assert code == 0 and "● compile time  compiled [" in out, out
        assert token_file(here).exists()
        assert interrupted(process) == 0 and not token_file(here).exists()
    serving.assert_runs_on()
    assert log.read_text().splitlines() == [
        f"{SSH} -p 2222 me@GPU1 sh -s",
        f"{SSH} -p 2222 {FORWARD} -L 127.0.0.1:{here}:127.0.0.1:{there} me@GPU1 cat",
    ]


def test_a_process_in_a_pod_is_named_by_its_id(serving: Running, log: Path) -> None:
    with attached("-n", "training", "-c", "main", f"pod/trainer-0:{pid_of_listening()}") as (process, told):
        port = configuration(told)["connect"]["port"]
        assert "pathMappings" not in told and interrupted(process) == 0
    assert log.read_text().splitlines() == [
        "kubectl exec -n training -i trainer-0 -c main -- sh -s",
        f"kubectl port-forward -n training pod/trainer-0 {port}:{serving.connect['port']}",
    ]


@pytest.mark.usefixtures("serving")
def test_paths_of_another_folder_are_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = os.getcwd()
    monkeypatch.chdir(tmp_path)
    with attached("ssh://gpu1") as (_, told):
        assert configuration(told)["pathMappings"] == [{"localRoot": "${workspaceFolder}", "remoteRoot": there}]


@pytest.mark.usefixtures("serving")
def test_a_connection_that_ends_ends_the_command() -> None:
    with attached("ssh://gpu1") as (process, told):
        (forward,) = psutil.Process(process.pid).children()
        forward.kill()
        assert process.stdout is not None
        assert process.stdout.read() == "Error: The connection to ssh://gpu1 has ended.\n"
        assert process.wait(60) == 1 and not token_file(configuration(told)["connect"]["port"]).exists()


@pytest.mark.usefixtures("serving")
def test_no_forward_is_left_where_the_command_is_killed() -> None:
    with attached("ssh://gpu1") as (process, _):
        (forward,) = psutil.Process(process.pid).children()
        process.kill()
        forward.wait(60)


@pytest.mark.usefixtures("serving")
def test_a_port_that_another_process_has_gets_no_token(tmp_path: Path) -> None:
    ssh = tmp_path / "bin" / "ssh"
    ssh.write_text(ssh.read_text().replace("exec ", 'case "$*" in *-L*) exit 255;; esac\nexec '))
    assert "The port of the program on ssh://gpu1 cannot be forwarded: see above." in said("ssh://gpu1")
    assert len(listening.listening()) == 1


def leave(**changes: object) -> None:
    listening.leave(ListeningProgram(token="t", pid=os.getpid(), **changes))


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


def said(*arguments: str) -> str:
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code != 0, result.output
    return result.output


def test_of_several_programs_one_has_to_be_named() -> None:
    leave(port=40_001, program="train.py --epochs 1", rank=1)
    leave(port=40_000, program="train.py --epochs 1", rank=0)
    leave(port=39_999, program="serve.py")
    pid = os.getpid()
    rows = [
        f"rank  address          {'pid':{len(str(pid))}}  program",
        f"0     127.0.0.1:40000  {pid}  train.py --epochs 1",
        f"1     127.0.0.1:40001  {pid}  train.py --epochs 1",
        f"      127.0.0.1:39999  {pid}  serve.py",
    ]
    assert "\n".join(rows) in CliRunner().invoke(command).output
    told = said("ssh://gpu1")
    assert "Several programs listen on ssh://gpu1:\n" + "\n".join(rows) in told
    assert "Name one: dynascope attach ssh://gpu1/40000\n" in told
    told = said("-n", "training", "pod/trainer:7")
    assert "No program with port or process id 7 listens on pod/trainer:" in told
    assert "Name one: dynascope attach -n training pod/trainer:40000\n" in told


def test_that_none_listens_is_said() -> None:
    for arguments, where in (([], "on this machine"), (["ssh://gpu1"], "on ssh://gpu1")):
        told = said(*arguments)
        assert f"No program of yours listens {where}." in told and "DYNASCOPE_LISTEN=0" in told


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["gpu1"], "'gpu1' is neither ssh://"),
        (["ssh://gpu1/train"], "is neither ssh://"),
        (["ssh://-oProxyCommand=x/1"], "is neither ssh://"),
        (["pod/--as=x"], "is neither ssh://"),
        (["-n", "training", "ssh://gpu1"], "--namespace and --container are for pod/NAME"),
    ],
)
def test_what_names_no_machine_is_refused(arguments: list[str], why: str) -> None:
    assert why in said(*arguments)


def test_a_machine_that_cannot_be_reached_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin" / "ssh").write_text("#!/bin/sh\nexit 255\n")
    assert "ssh://gpu1 cannot be reached: ssh ended with status 255." in said("ssh://gpu1")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "kubectl is not installed here, or not on PATH." in said("pod/trainer")


def started(path: Path, command: list[str], asked: str = "0") -> subprocess.Popen[str]:
    path.write_text(RANKS)
    return subprocess.Popen(
        [*command, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=adapter_environment({"DYNASCOPE_LISTEN": asked}),
    )


def test_a_program_listens_if_its_environment_says_so(tmp_path: Path) -> None:
    process = started(tmp_path / "train.py", [sys.executable])
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    (found,) = listening.listening()
    assert (found.rank, found.program) == (None, str(tmp_path / "train.py"))
    told = CliRunner().invoke(command).output
    assert f"{found.address}  {found.pid}  " in told and "rank" not in told
    _, errors = process.communicate("\n", timeout=60)
    assert process.returncode == 0 and f"dynascope: listening on {found.address}; a debugger needs" in errors
    assert listening.listening() == []


@pytest.mark.parametrize("asked", ["a port", "127.0.0.1:x"])
def test_an_address_that_cannot_be_used_ends_no_program(tmp_path: Path, asked: str) -> None:
    process = started(tmp_path / "train.py", [sys.executable], asked)
    output, errors = process.communicate("\n", timeout=60)
    assert process.returncode == 0 and output == "ready\n"
    why = f"{asked!r} is neither PORT nor HOST:PORT. 0 takes a free port."
    assert f"dynascope: DYNASCOPE_LISTEN={asked}: cannot listen: {why}" in errors


@pytest.mark.matrix
@pytest.mark.real_processes
def test_each_rank_of_a_job_listens_and_torchrun_does_not(tmp_path: Path) -> None:
    process = started(
        tmp_path / "train.py", [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone"]
    )
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(2)] == ["ready\n"] * 2
    assert [each.rank for each in listening.listening()] == [0, 1]
    process.terminate()
    process.communicate(timeout=60)
