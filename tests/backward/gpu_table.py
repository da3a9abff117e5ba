"""What the tests on a GPU gave, as a table in Markdown for the README."""

from __future__ import annotations

import torch
from dynascope.agent.backward.report import BackwardRun

HEADINGS = ("backward", "graph", "CUDA graphs", "nodes", "inputs", "scalars moved", "GPU ms", "gradients")


class Table:
    """One row for each backward whose gradients were found to be those of eager mode."""

    def __init__(self) -> None:
        self._rows: list[tuple[str, ...]] = []

    def add(self, backward: str, graph: str, cudagraphs: bool, run: BackwardRun) -> None:
        inputs = ", ".join(f"{each.count} on {device}" for device, each in run.inputs.items())
        moved = f"{len(run.moved_to_cuda)} ({run.moved_bytes} bytes)" if run.moved_to_cuda else "0"
        device_ms = run.device_ms
        self._rows.append(
            (
                backward,
                graph,
                "on" if cudagraphs else "off",
                str(sum(map(bool, run.node_calls))),
                inputs,
                moved,
                f"{device_ms:.2f}" if device_ms is not None else "-",
                "as in eager mode",
            )
        )

    def lines(self) -> list[str]:
        """Hardware and versions, then the table; nothing when no test ran."""
        if not self._rows:
            return []
        hardware = f"{torch.cuda.get_device_name()}, CUDA {torch.version.cuda}, torch {torch.__version__}"
        rows = [HEADINGS, ("---",) * len(HEADINGS), *self._rows]
        return [f"On {hardware}:", "", *(f"| {' | '.join(row)} |" for row in rows)]
