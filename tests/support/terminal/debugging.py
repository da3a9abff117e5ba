"""`dynascope debug` on a small program, with its commands on standard input."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import fork_server

PATIENCE = 240
PROGRAM = """\
import os
import sys

import torch


def inner(x):
    y = x + 1
    return y * 2


@torch.compile(backend="eager")
def outer(x):
    z = inner(x)
    return z.sum()


if __name__ == "__main__":
    with open("pid", "w") as stream:
        stream.write(str(os.getpid()))
    result = outer(torch.ones(3))
    print("arguments", sys.argv[1:])
    if "ask" in sys.argv:
        print("answer", input("question? "))
    sys.exit(int(result))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


def debug(*options: str, commands: str | None = None) -> tuple[int, str]:
    """Exit code and output of `dynascope debug` with that on its standard input."""
    fork_server.wait_for_modules_of_programs()
    run = subprocess.run(
        [sys.executable, "-m", "dynascope", "debug", *options],
        input=commands or "",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE,
    )
    return run.returncode, run.stdout
