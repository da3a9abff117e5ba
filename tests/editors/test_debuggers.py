"""Programs debugged in other editors, headless, with the configurations that docs/editors.md tells to paste.

Needs `nvim` and a checkout of nvim-dap in $DYNASCOPE_NVIM_DAP, or Emacs 29 and one of dape in $DYNASCOPE_DAPE: they are
in no registry. What is not there is skipped.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.fork_server import search_path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "editors.md"
DRIVERS = {
    "nvim-dap": (
        "DYNASCOPE_NVIM_DAP",
        ["nvim", "--headless", "--clean", "-n", "-c", f"luafile {HERE / 'nvim_dap.lua'}"],
    ),
    "dape": ("DYNASCOPE_DAPE", [os.environ.get("DYNASCOPE_EMACS", "emacs"), "--batch", "-l", str(HERE / "dape.el")]),
}
_PATIENCE = 600
"""Seconds: more than all that the drivers wait for."""
PROGRAM = """\
import torch


@torch.compile
def f(x):
    y = x + 1
    z = y.relu()
    return z.sum()


print("sum", f(torch.ones(3)).item())
"""


def configuration(client: str) -> str:
    """Return the code block of the section about a client."""
    section = re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)
    (text,) = (each for each in section if each.partition("\n")[0].endswith(client))
    return text.split("```")[1].partition("\n")[2]


@pytest.mark.real_processes
@pytest.mark.timeout(_PATIENCE + 60)
@pytest.mark.parametrize("client", DRIVERS)
def test_a_compiled_function_is_debugged_as_the_page_says(client: str, tmp_path: Path) -> None:
    variable, command = DRIVERS[client]
    if not os.environ.get(variable) or shutil.which(command[0]) is None:
        pytest.skip(f"install {command[0]}, and set {variable} to the folder of a checkout of {client}")
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "bin").mkdir()
    own = tmp_path / "bin" / "dynascope"
    own.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dynascope "$@"\n')
    own.chmod(0o755)
    result = tmp_path / "result.json"
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "PATH": f"{own.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": search_path(),
        "DYNASCOPE_CONFIGURATION": configuration(client),
        "DYNASCOPE_FILE": str(tmp_path / "train.py"),
        "DYNASCOPE_LINE": "6",
        "DYNASCOPE_RESULT": str(result),
    }
    with (tmp_path / "said").open("w") as said:
        process = subprocess.Popen(
            command,
            env=environment,
            cwd=tmp_path,
            stdout=said,
            stderr=said,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    try:
        process.wait(_PATIENCE)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert result.exists(), (tmp_path / "said").read_text()[-2000:]
    seen: dict[str, Any] = json.loads(result.read_text())
    assert "problem" not in seen, seen
    assert [(stop["name"], stop["line"], stop["x"]) for stop in seen["stops"]] == [
        ("f [0/0]", 6, "f32[3]"),
        ("f [0/0]", 7, "f32[3]"),
    ]
    assert all({"Locals", "Value Stack", "Guards", "Graph"} <= set(stop["scopes"]) for stop in seen["stops"])
