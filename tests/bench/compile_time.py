"""Compile time with the debugger attached and idle, as a ratio to a plain run.

Bias: plain and attached runs alternate on one machine, each a fresh process that compiles the same model from cold
several times; a run counts as its fastest compile, in CPU seconds of that process, and the ratio is the median over the
pairs. A breakpoint is set, in a file that is never traced, so that the hook is at work. Imports are not compile time.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.support.dap.client import DapClient, adapter_environment

HERE = Path(__file__).parent
PROGRAM = HERE / "transformer.py"
UNTRACED = HERE / "stop_latency.py"
MODELS = {"eager": ["eager", "24", "5"], "inductor": ["inductor", "4", "8"]}


def seconds(output: str) -> float:
    """The fastest compile that a run of the program printed."""
    line = next(line for line in output.splitlines() if line.startswith("SECONDS "))
    return min(json.loads(line.removeprefix("SECONDS "))["cpu"])


def plain(arguments: list[str]) -> float:
    run = subprocess.run(
        [sys.executable, str(PROGRAM), *arguments],
        capture_output=True,
        text=True,
        check=True,
        env=adapter_environment(),
    )
    return seconds(run.stdout)


def attached(arguments: list[str], **configuration: Any) -> float:
    with DapClient.spawn(check=False) as client:
        client.launch(
            {"program": str(PROGRAM), "args": arguments, "console": "internalConsole", **configuration},
            {UNTRACED: [40]},
        )
        client.wait_for_end(600)
        return seconds(client.output())


SESSIONS = {
    "attached": {},
    "attached, not recording": {"record": False},
    "attached, runtime: false": {"runtime": False},
}


def measure(pairs: int, sessions: Sequence[str], device: str = "cpu") -> Iterator[str]:
    """A line per backend and kind of session as soon as it is measured; ratios to the plain run beside it."""
    yield (
        f"Compile time on {device}, debugger attached and idle / plain "
        "(CPU seconds of the program, fastest of several compiles)"
    )
    for backend, arguments in MODELS.items():
        for name in sessions:
            on = [*arguments, device]
            runs = [(plain(on), attached(on, **SESSIONS[name])) for _ in range(pairs)]
            ratios = [ours / theirs for theirs, ours in runs]
            yield (
                f"{backend:9} {name:25} plain {statistics.median(theirs for theirs, _ in runs):6.3f} s   "
                f"ratio: median {statistics.median(ratios):.3f}, min {min(ratios):.3f}, max {max(ratios):.3f}"
            )
