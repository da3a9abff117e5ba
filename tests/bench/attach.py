"""How long it takes to attach by process id to a program that runs with torch, next to debugpy alone.

The time is that from the request `attach` until it is answered, with the program's breakpoints set. Both use the gdb of
the package gdb-for-pwndbg if it is installed beside this Python.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.table import Table

from tests.bench.first_stop import DEBUGPY
from tests.support.dap.client import ADAPTER, DapClient

_ENVIRONMENT = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
PROGRAM = """\
import time
import torch

print("ready", flush=True)
while True:
    time.sleep(0.01)
"""


def measure(rounds: int = 5) -> Table:
    """Return the median of the seconds, and its ratio to debugpy's: idle, and beside eight busy processes."""
    table = Table(title=f"Seconds to attach by process id; median of {rounds}")
    for heading in ("session", "busy processes", "seconds", "most", "ratio"):
        table.add_column(heading)
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "waits.py"
        program.write_text(PROGRAM)
        for busy in (0, 8):
            times: dict[str, list[float]] = {"debugpy alone": [], "Dynascope": []}
            with _busy_processes(busy):
                for _ in range(rounds):
                    for name, command in (("debugpy alone", DEBUGPY), ("Dynascope", ADAPTER)):
                        times[name].append(_attach(program, list(command)))
            medians = {name: sorted(each)[rounds // 2] for name, each in times.items()}
            for name, seconds in medians.items():
                ratio = seconds / medians["debugpy alone"]
                table.add_row(name, str(busy), f"{seconds:.2f}", f"{max(times[name]):.2f}", f"{ratio:.2f}")
    return table


@contextmanager
def _busy_processes(count: int) -> Iterator[None]:
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _attach(path: Path, command: list[str]) -> float:
    with subprocess.Popen([sys.executable, path], stdout=subprocess.PIPE) as program:
        try:
            assert program.stdout is not None
            program.stdout.readline()
            with DapClient.spawn(command, check=False, environment=_ENVIRONMENT) as client:
                client.initialize()
                begun = time.perf_counter()
                client.attach({"processId": program.pid}, {path: [6]})
                return time.perf_counter() - begun
        finally:
            program.kill()
