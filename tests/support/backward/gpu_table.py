"""What the tests on a GPU gave, as a table in Markdown that can be pasted into the README.

Rows travel in pytest's reports: the tests run in workers, and the table is printed where the reports come together.
"""

from __future__ import annotations

import importlib.metadata
import platform
import subprocess
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dynascope.agent.backward.runtime.report import BackwardRun

Row = dict[str, Any]
HEADINGS = (
    "backward",
    "the graph runs",
    "nodes",
    "inputs",
    "CPU scalars moved, without / with CUDA graphs",
    "GPU ms, without / with",
    "gradients",
)
_ROW, _SESSION, _HARDWARE = "gpu_row", "gpu_session", "gpu_hardware"


class Table:
    """A row for each backward whose gradients were found to be those of eager mode, and a line for each session."""

    def __init__(self, keep: Callable[[str, object], None]) -> None:
        """`keep` puts a property into the report of the test: pytest's `record_property`."""
        self._keep = keep

    def add(self, backward: str, graph: str, cudagraphs: bool, run: BackwardRun, difference: float) -> None:
        """`difference` is the largest one between a gradient and eager mode's."""
        row: Row = {
            "backward": backward,
            "graph": graph,
            "cudagraphs": cudagraphs,
            "nodes": sum(map(bool, run.node_calls)),
            "inputs": ", ".join(f"{each.count} on {device}" for device, each in sorted(run.inputs.items())),
            "moved": f"{len(run.moved_to_cuda)} ({run.moved_bytes} bytes)" if run.moved_to_cuda else "0",
            "ms": run.device_ms,
            "difference": difference,
        }
        self._keep(_ROW, row)
        self._keep(_HARDWARE, hardware())

    def add_session(self, device: str, what: str) -> None:
        """Add what a session showed; on the CPU nothing, since it is then only a rehearsal."""
        if device == "cuda":
            self._keep(_SESSION, what)
            self._keep(_HARDWARE, hardware())


def hardware() -> str:
    """The GPU, and the versions that a result depends on."""
    import torch

    memory = torch.cuda.get_device_properties(0).total_memory / 2**30
    try:
        triton = importlib.metadata.version("triton")
    except importlib.metadata.PackageNotFoundError:
        triton = "none"
    return (
        f"{torch.cuda.get_device_name(0)} ({memory:.0f} GiB), driver {driver()}, CUDA {torch.version.cuda}, "
        f"torch {torch.__version__}, Triton {triton}, Python {platform.python_version()}"
    )


def driver() -> str:
    """The version of NVIDIA's driver, as `nvidia-smi` tells it."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return told.stdout.partition("\n")[0].strip() or "unknown"


def lines(reports: Iterable[Any]) -> list[str]:
    """Hardware and versions, then the table and the sessions; nothing when no report holds a row or a session."""
    properties = [each for report in reports for each in report.user_properties]
    rows: dict[tuple[str, str], list[Row]] = {}
    for name, row in properties:
        if name == _ROW:
            rows.setdefault((row["graph"], row["backward"]), []).append(row)
    sessions = sorted({text for name, text in properties if name == _SESSION})
    if not rows and not sessions:
        return []
    machine = " and ".join(sorted({text for name, text in properties if name == _HARDWARE}))
    written = [HEADINGS, ("---",) * len(HEADINGS), *(_cells(rows[key]) for key in sorted(rows))] if rows else []
    table = [f"| {' | '.join(cells)} |" for cells in written]
    listed = ["", *(f"- {text}" for text in sessions)] if sessions else []
    return ["", f"On {machine}:", *(["", *table] if table else []), *listed]


def _cells(rows: Sequence[Row]) -> tuple[str, ...]:
    """One line for the same backward with CUDA graphs and without."""
    without = next((row for row in rows if not row["cudagraphs"]), None)
    with_graphs = next((row for row in rows if row["cudagraphs"]), None)
    first = without or rows[0]

    def both(text_of: Callable[[Row], str]) -> str:
        return " / ".join("–" if row is None else text_of(row) for row in (without, with_graphs))

    difference = max(row["difference"] for row in rows)
    return (
        first["backward"],
        first["graph"],
        str(first["nodes"]),
        first["inputs"],
        both(lambda row: str(row["moved"])),
        both(lambda row: "–" if row["ms"] is None else f"{row['ms']:.2f}"),
        "eager's, bit for bit" if difference == 0 else f"eager's within {difference:.0e}",
    )
