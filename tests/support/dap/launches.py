"""Launch configurations and stops that several tests of the adapter use; and programs without a debugger."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.dap.client import DapClient, Stop, adapter_environment
from tests.support.marks import program

COMPILED = program("compiled.py")
LONG = 240
"""Seconds that a compile by inductor may take on a busy machine."""


def launch(path: Path = COMPILED, **more: Any) -> dict[str, Any]:
    return {"program": str(path), "console": "internalConsole", "subProcess": False, "redirectOutput": True} | more


def alone(path: Path, *arguments: str) -> str:
    """Return what the program prints without a debugger."""
    command = [sys.executable, str(path), *arguments]
    run = subprocess.run(command, capture_output=True, text=True, env=adapter_environment(), timeout=LONG)
    assert run.returncode == 0, f"it fails without a debugger, too:\n{run.stderr}"
    return run.stdout


def stop_named(client: DapClient, name: str) -> Stop:
    """Wait for the next stop, whose innermost frame has to have this name, or one that begins so."""
    stop = client.wait_for_stop(LONG)
    assert stop.where()[0].startswith(name), stop.where()
    return stop
