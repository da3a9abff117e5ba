"""`dynascope profile` after two runs of a program with Inductor: torch's caches have nothing, then all of its code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.support.fork_server import search_path

PROGRAM = """\
import torch

@torch.compile
def step(x):
    return (x.sin() * 2).sum()

step(torch.ones(4, requires_grad=True)).backward()
"""


def dynascope(folder: Path, *arguments: str) -> str:
    caches = {"TORCHINDUCTOR_CACHE_DIR": str(folder / "caches"), "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "dynascope", *arguments],
        cwd=folder,
        env={**os.environ, **caches, "PYTHONPATH": search_path(), "DYNASCOPE_FACTS": str(folder / "facts")},
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.mark.matrix
@pytest.mark.timeout(900)
def test_what_inductor_wrote_anew_and_what_it_took_from_caches(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    dynascope(tmp_path, "run", "train.py")
    reported = dynascope(tmp_path, "report")
    (later,) = re.findall(r"backends\), and ([\d.]+) s to compile backwards and kernels later", reported)
    told = dynascope(tmp_path, "profile")
    assert float(later) > 0 and f", and {later} s to compile" in told.splitlines()[0]
    (command,) = re.findall(r"Inductor took nothing from torch's caches. `dynascope (report --form 0/0) ", told)
    assert "cache" in dynascope(tmp_path, *command.split(), "cache key")
    dynascope(tmp_path, "run", "train.py")
    assert "Inductor took all of its code from torch's caches." in dynascope(tmp_path, "profile")
