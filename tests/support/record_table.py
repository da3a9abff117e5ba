"""Count graph breaks, recompiles and graphs of small functions with `dynascope.record()` and with what torch has.

`python -m tests.support.record_table` writes the table of docs/record.md.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from tests.support.house import ROOT

PAGE = ROOT / "docs" / "record.md"
BEGIN, END = "<!-- counted -->\n", "<!-- end -->\n"
_LOGGED = re.compile(r"\[__(?P<log>graph_breaks|recompiles)\] (?:Graph break (?:in|\()|Recompiling function )")


@dataclass
class Row:
    """A function, and how many graph breaks, recompiles and graphs each tool counts."""

    name: str
    recorded_breaks: int
    recorded_recompiles: int
    refused: int
    """How often the recompile limit was reached; torch logs that as a recompile, too."""
    recorded_graphs: int
    counted_breaks: int
    counted_graphs: int
    explained_breaks: int
    """For the first call alone."""
    logged_breaks: int = 0
    logged_recompiles: int = 0

    @property
    def is_right(self) -> bool:
        """Whether what was recorded is what torch logs, and its graphs those of torch's counters."""
        recompiles = self.recorded_recompiles + self.refused
        recorded = (self.recorded_breaks, recompiles, self.recorded_graphs)
        return recorded == (self.logged_breaks, self.logged_recompiles, self.counted_graphs)


def rows() -> list[Row]:
    """Return a row for each function, counted in a process of its own."""
    run = subprocess.run(
        [sys.executable, "-m", __spec__.name, "--count"],
        env={**os.environ, "TORCH_LOGS": "graph_breaks,recompiles"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert run.returncode == 0, run.stderr[-4000:]
    found = [Row(**each) for each in map(json.loads, run.stdout.splitlines())]
    _, *parts = re.split(r"^== (\w+)$", run.stderr, flags=re.MULTILINE)
    said = dict(zip(parts[::2], parts[1::2], strict=True))
    for row in found:
        logs = [match["log"] for match in _LOGGED.finditer(said[row.name])]
        row.logged_breaks, row.logged_recompiles = logs.count("graph_breaks"), logs.count("recompiles")
    return found


def count() -> Iterator[Row]:
    """Compile each function for its calls, and count, while torch logs to stderr."""
    import dynascope
    import torch
    from torch._dynamo.utils import counters

    from tests.programs.small_functions import functions

    for name in functions():
        print(f"== {name}", file=sys.stderr, flush=True)
        torch._dynamo.reset()
        counters.clear()
        function, calls = functions()[name]
        random.seed(0)
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                with dynascope.record() as trace:
                    compiled = torch.compile(function, backend="eager")
                    for call in calls:
                        compiled(*call)
            except Exception:  # some versions cannot compile some of them
                continue
            breaks, graphs = sum(counters["graph_break"].values()), counters["stats"]["unique_graphs"]
            torch._dynamo.reset()
            function, calls = functions()[name]
            print("== explain", file=sys.stderr, flush=True)
            explained = torch._dynamo.explain(function)(*calls[0])
        counts = trace.counts()
        assert not trace.errors, trace.errors
        yield Row(
            name,
            counts["graph_breaks"],
            counts["recompiles"],
            counts["recompile_limits"],
            counts["graphs"],
            breaks,
            graphs,
            explained.graph_break_count,
        )


def table(found: list[Row]) -> str:
    """Return the table of the functions that break in Markdown, and how often each tool is right."""
    lines = [
        "| Function | `record()` | `TORCH_LOGS` | `counters` | `explain` |",
        "|---|---|---|---|---|",
    ]
    for row in found:
        if row.logged_breaks:
            lines.append(
                f"| `{row.name}` | {row.recorded_breaks} | {row.logged_breaks} | {row.counted_breaks} "
                f"| {row.explained_breaks} |"
            )
    breaking = [row for row in found if row.logged_breaks]
    right = [
        sum(count(row) == row.logged_breaks for row in breaking)
        for count in (lambda r: r.recorded_breaks, lambda r: r.counted_breaks, lambda r: r.explained_breaks)
    ]
    of_all = f"| **Right of {len(breaking)}** | **{right[0]}** | | **{right[1]}** | **{right[2]}** |"
    return "\n".join([*lines, of_all, ""])


def with_table(text: str, found: list[Row]) -> str:
    """Return the page with this table."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}{table(found)}{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    if "--count" in sys.argv:
        warnings.simplefilter("ignore")
        for each in count():
            print(json.dumps(vars(each)), flush=True)
    else:
        PAGE.write_text(with_table(PAGE.read_text(), rows()))
