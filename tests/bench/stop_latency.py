"""How long a stop and a step take to reach the client, with 200 locals, through the real adapter.

A step is counted from the client's `next` to its `stopped`: it holds the hook's decision. A look is what a
client asks then: `stackTrace`, `scopes` and the first page of locals. Step + look is an upper bound for "from the
hook's decision until all is there". Wall-clock milliseconds, as a user waits them.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.table import Table

from tests.support.dap.client import DapClient

LOCALS = 200
PROGRAM = "\n".join(
    ["import sys, torch", "def crowded(x):"]
    + [f"    local_{i} = x + {i}" for i in range(LOCALS)]
    + ["    total = local_0"]
    + [f"    total = total + local_{i}" for i in range(LOCALS)]
    + ["    return total", "torch.compile(crowded, backend='eager')(torch.ones(4, device=sys.argv[1]))", ""]
)
FIRST_STOP = 3 + LOCALS


def measure(steps: int, device: str = "cpu") -> Table:
    """Medians and 95th percentiles over `steps` steps, with and without debugpy."""
    table = Table(title=f"A stop with 200 locals on {device}, {steps} steps, milliseconds")
    for heading in ("session", "step: median", "p95", "look: median", "p95", "step + look: median", "p95"):
        table.add_column(heading)
    for name, configuration in {"runtime: true": {}, "runtime: false": {"runtime": False}}.items():
        rows = [(step, look, step + look) for step, look in _run(steps, device, configuration)]
        cells = [f"{part:.1f}" for column in zip(*rows, strict=True) for part in _spread(column)]
        table.add_row(name, *cells)
    return table


def _spread(milliseconds: tuple[float, ...]) -> tuple[float, float]:
    ordered = sorted(milliseconds)
    return statistics.median(ordered), ordered[int(len(ordered) * 0.95)]


def _run(steps: int, device: str, configuration: dict[str, Any]) -> list[tuple[float, float]]:
    timings = []
    with tempfile.TemporaryDirectory() as folder, DapClient.spawn(check=False) as client:
        program = Path(folder) / "crowded.py"
        program.write_text(PROGRAM)
        launch = {"program": str(program), "args": [device], "console": "internalConsole", **configuration}
        client.launch(launch, {program: [FIRST_STOP]})
        stop = client.wait_for_stop()
        for _ in range(steps):
            begun = time.perf_counter()
            stop = stop.step("next")
            stopped = time.perf_counter()
            frame = stop.frames(0, 20)[0]
            scopes = stop.scopes(frame.id)
            shown = stop.variables(scopes["Locals"].variables_reference, start=0, count=100)
            assert len(shown) == 100
            timings.append(((stopped - begun) * 1e3, (time.perf_counter() - stopped) * 1e3))
        stop.resume()
        client.wait_for_end()
    return timings
