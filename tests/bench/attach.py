"""How long it takes to attach by process id to a program that runs with torch, next to debugpy alone.

The time is that from the request `attach` until it is answered, with the program's breakpoints set.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.table import Table

from tests.bench.first_stop import DEBUGPY
from tests.support.dap.client import ADAPTER, DapClient

PROGRAM = """\
import time
import torch

print("ready", flush=True)
while True:
    time.sleep(0.01)
"""


def measure(rounds: int = 5) -> Table:
    """Return the median of the seconds, and its ratio to debugpy's."""
    table = Table(title=f"Seconds to attach by process id; median of {rounds}")
    for heading in ("session", "seconds", "ratio"):
        table.add_column(heading)
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "waits.py"
        program.write_text(PROGRAM)
        times: dict[str, list[float]] = {"debugpy alone": [], "Dynascope": []}
        for _ in range(rounds):
            for name, command in (("debugpy alone", DEBUGPY), ("Dynascope", ADAPTER)):
                times[name].append(_attach(program, list(command)))
    medians = {name: sorted(each)[rounds // 2] for name, each in times.items()}
    for name, seconds in medians.items():
        table.add_row(name, f"{seconds:.2f}", f"{seconds / medians['debugpy alone']:.2f}")
    return table


def _attach(path: Path, command: list[str]) -> float:
    with subprocess.Popen([sys.executable, path], stdout=subprocess.PIPE) as program:
        try:
            assert program.stdout is not None
            program.stdout.readline()
            with DapClient.spawn(command, check=False) as client:
                client.initialize()
                begun = time.perf_counter()
                client.attach({"processId": program.pid}, {path: [6]})
                return time.perf_counter() - begun
        finally:
            program.kill()
