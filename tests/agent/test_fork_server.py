"""A program that the fork server runs is as one that Python runs: arguments, files, signals, exit codes, imports."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support import fork_server

FORKED = "import torch, os, sys; assert os.getppid() == int(os.environ['SERVER'])\n"


def parent() -> str:
    """Return the process id of the server, which programs ask for."""
    command = [sys.executable, "-c", "import torch, os; print(os.getppid())"]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, check=True).stdout.strip()


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, **more}


def run(code: str, **more: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", FORKED + code]
    return subprocess.run(command, env=environment(SERVER=parent()), capture_output=True, text=True, **more)  # type: ignore[call-overload,no-any-return]


pytestmark = [
    pytest.mark.second_leg,
    pytest.mark.skipif(not fork_server.can_be_used(), reason="processes are not forked here"),
]


def test_programs_are_forked_in_a_run_for_which_make_was_told_python_and_torch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHON", "python3.12")
    monkeypatch.setenv("TORCH", "torch==2.15.0")
    assert int(parent()) != os.getpid()


def test_files_arguments_and_exit_codes_are_the_programs() -> None:
    done = run("print(sys.stdin.read(), sys.argv); print('error', file=sys.stderr); sys.exit(7)", input="typed")
    assert (done.returncode, done.stdout, done.stderr) == (7, "typed ['-c']\n", "error\n")


def test_a_traceback_begins_in_the_program() -> None:
    done = run("1 / 0")
    assert done.returncode == 1
    assert done.stderr.splitlines()[:2] == [
        "Traceback (most recent call last):",
        '  File "<string>", line 2, in <module>',
    ]


def test_a_script_finds_itself(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        "import torch, sys\nprint(__name__, __file__, sys.path[0], sys.argv, 'torch._dynamo' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, path, "x"], env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["__main__", str(path), str(tmp_path), f"['{path}',", "'x']", "False"]


def test_what_waits_for_an_import_is_called() -> None:
    code = """
from dynascope.agent.program.import_hooks import when_imported
when_imported("torch._dynamo.output_graph", lambda: print("imported", flush=True))
print(torch.compile(lambda x: x + 1, backend="eager")(torch.ones(1)))
"""
    assert run(code).stdout == "imported\ntensor([2.])\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_reach_the_program(number: signal.Signals) -> None:
    code = FORKED + "import signal; print('ready', flush=True); signal.pause()"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, env=environment(SERVER=parent()), stdout=-1, stderr=-1, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        _, error = process.communicate(timeout=60)
    assert process.returncode == -number
    assert ("KeyboardInterrupt" in error) == (number == signal.SIGINT)


def test_a_program_is_killed_with_the_process_that_waits_for_it() -> None:
    code = FORKED + "import signal; print(os.getpid(), flush=True); signal.pause()"
    with subprocess.Popen(
        [sys.executable, "-c", code], env=environment(SERVER=parent()), stdout=-1, text=True
    ) as process:
        assert process.stdout is not None
        program = int(process.stdout.readline())
        process.kill()
    end = time.monotonic() + 60
    while Path(f"/proc/{program}").exists():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_who_waits_for_the_modules_finds_them_imported() -> None:
    server = fork_server.ForkServer(fork_server.TOOLS)
    try:
        fork_server.wait_for_modules(server.address)
        assert "msgspec" in Path(f"/proc/{server._process.pid}/maps").read_text()
    finally:
        server.end()
