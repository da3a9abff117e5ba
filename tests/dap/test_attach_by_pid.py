"""Attach by process id: what cannot be attached to is said at once, in a sentence."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from dynascope import debugpy_injector
from dynascope.dap.program import attach, calls_by_gdb
from dynascope.dap.protocol.call import RequestError

from tests.support.dap.client import DapClient


@contextmanager
def running(*command: str) -> Iterator[int]:
    process = subprocess.Popen(command)
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def refusal(client: DapClient, process_id: int | str) -> str:
    client.initialize()
    began = time.monotonic()
    message = client.failure("attach", {"processId": process_id})
    assert time.monotonic() - began < 10  # debugpy takes a minute
    return message


def test_no_such_process(client: DapClient) -> None:
    with running(sys.executable, "-c", "") as pid:
        pass
    assert refusal(client, pid) == f"There is no process {pid}."


def test_no_number(client: DapClient) -> None:
    assert "is not a process id: 'first'" in refusal(client, "first")


def test_another_language(client: DapClient) -> None:
    with running("sleep", "100") as pid:
        assert refusal(client, str(pid)) == f"Process {pid} (sleep 100) is not a Python program."


def check_python(
    monkeypatch: pytest.MonkeyPatch, *, may_trace: bool = True, has_gdb: bool = True, complaint: str | None = None
) -> None:
    async def of_gdb() -> str | None:
        return complaint

    monkeypatch.setattr(calls_by_gdb, "complaint", of_gdb)
    monkeypatch.setattr(attach, "_may_trace", lambda pid: may_trace)
    monkeypatch.setattr(attach, "gdb_command", lambda: ["/usr/bin/gdb"] if has_gdb else [])
    monkeypatch.setattr("shutil.which", lambda name: None)
    with running(sys.executable, "-c", "import time; time.sleep(100)") as pid:
        while "python" not in Path(f"/proc/{pid}/maps").read_text():
            time.sleep(0.01)
        asyncio.run(attach.check(pid))


def test_gdb_of_the_extra_is_preferred(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    for installed, command in (
        (object(), [sys.executable, "-P", "-m", "gdb_for_pwndbg.gdb"]),
        (None, ["/usr/bin/gdb"]),
    ):
        monkeypatch.setattr("importlib.util.find_spec", lambda name, installed=installed: installed)
        assert debugpy_injector.gdb_command() == command


def test_a_python_program_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    check_python(monkeypatch)


def test_no_permission_to_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RequestError, match=r"cannot be attached to: .*dynascope\.listen\(\)"):
        check_python(monkeypatch, may_trace=False)


def test_no_gdb(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RequestError, match=r"needs gdb.*dynascope\.listen\(\)"):
        check_python(monkeypatch, has_gdb=False)


def test_gdb_that_ends_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RequestError, match=r"would end it: .*\(Couldn't write\).*dynascope\.listen\(\)"):
        check_python(monkeypatch, complaint="Couldn't write")


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ("echo attached", None),
        ('kill -9 "$5"; echo "Couldn\'t write extended state status: Bad address."', "Couldn't write extended state"),
        ('kill -9 "$5"', "the program ended"),
        ("exit 1", None),
    ],
)
def test_gdb_is_tried_on_another_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, complaint: str | None
) -> None:
    (tmp_path / "gdb").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "gdb").chmod(0o755)
    monkeypatch.setattr(calls_by_gdb, "has_package", lambda: False)
    monkeypatch.setattr(calls_by_gdb, "gdb_command", lambda: [str(tmp_path / "gdb")])
    found = asyncio.run(calls_by_gdb.complaint())
    assert found is None if complaint is None else found is not None and found.startswith(complaint)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_the_kernel_is_asked_for_permission() -> None:
    with running(sys.executable, "-c", "import time; time.sleep(100)") as pid:
        code = f"from dynascope.dap.program.attach import _may_trace; print(_may_trace({pid}))"
        folder = str(Path(attach.__file__).parents[3])
        command = ["/usr/bin/python3", "-c", f"open('/proc/{pid}/mem', 'rb')"]
        nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        assert subprocess.run([*nobody, *command], capture_output=True, check=False).returncode != 0
        environment = {**os.environ, "PYTHONPATH": folder}
        assert (
            "True"
            in subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
            ).stdout
        )
