"""`dynascope run --fail-on` runs a program as ever, and fails afterwards where `dynascope check` would."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

BREAKS = """
import sys, torch
@torch.compile(backend="eager")
def f(x):
    torch._dynamo.graph_break()
    return x + 1
f(torch.ones(3))
print("the program's own")
"""
WAITS = "import sys, time\nprint('ready', flush=True)\ntime.sleep(200)\n"


def start(folder: Path, *options: str, source: str) -> subprocess.Popen[str]:
    (folder / "program.py").write_text(source)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("DYNASCOPE")}
    command = [sys.executable, "-m", "dynascope", "run", *options, "program.py"]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, cwd=folder, env=inherited, text=True, **pipes)


def run(folder: Path, *options: str, source: str) -> tuple[int, str, str]:
    with start(folder, *options, source=source) as program:
        out, err = program.communicate(timeout=200)
        return program.returncode, out, err


@pytest.mark.matrix
def test_it_fails_after_the_program_has_ended_well(tmp_path: Path):
    code, out, err = run(tmp_path, "--fail-on", "graph-break", source=BREAKS)
    assert (code, out) == (1, "the program's own\n")
    assert "program.py:5 Graph break" in err and err.endswith("check failed: 1 graph break\n")
    code, out, err = run(tmp_path, "--max", "graph-break=1", source=BREAKS)
    assert (code, out) == (0, "the program's own\n") and err.endswith("check passed\n")


def test_a_program_that_fails_keeps_its_exit_code(tmp_path: Path):
    code, out, err = run(tmp_path, "--fail-on", "graph-break", source="import sys\nprint('out')\nsys.exit(3)\n")
    assert (code, out, err) == (3, "out\n", "")


def test_a_program_in_which_nothing_is_compiled_fails(tmp_path: Path):
    code, out, err = run(tmp_path, "--fail-on", "graph-break", source="print('out')\n")
    assert (code, out, err) == (1, "out\n", "check failed: nothing was compiled\n")


def test_a_missing_baseline_is_told_before_the_program_runs(tmp_path: Path):
    code, out, err = run(tmp_path, "--baseline", "known.json", source="print('out')\n")
    assert (code, out) == (2, "") and "There is no baseline known.json" in err


@pytest.mark.matrix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_reach_the_program_and_its_end_is_told_on(number: signal.Signals, tmp_path: Path):
    with start(tmp_path, "--fail-on", "graph-break", source=WAITS) as program:
        assert program.stdout is not None and program.stdout.readline() == "ready\n"
        program.send_signal(number)
        _, err = program.communicate(timeout=60)
    assert program.returncode == -number
    assert ("KeyboardInterrupt" in err) == (number == signal.SIGINT)
