"""How long the first page of a big view takes, through the real adapter, and what memory the adapter needs for it.

One program, stopped where everything is big at once: 10,000 locals, a list of 10,000 elements, a module with 5,000
parameters, a graph of 20,000 nodes, guards on 20,000 values and a sum of hundreds of symbols. Each view is opened as
VS Code does: the first hundred rows where the adapter gave a count, else all of it; then, in a run of its own, as by a
client that cannot page. The second opening is timed as well: what is computed once must not be mistaken for what is
quick. Wall-clock milliseconds; the target is 50.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.table import Table

from tests.support.dap.client import DapClient, Stop

LOCALS, ELEMENTS, PARAMETERS, NODES, GUARDED, SYMBOLS = 10_000, 10_000, 5_000, 20_000, 20_000, 500
PAGE = 100
PROGRAM = "\n".join(
    [
        "import torch",
        "class Big(torch.nn.Module):",
        "    def __init__(self):",
        "        super().__init__()",
        f"        for i in range({PARAMETERS}):",
        "            self.register_parameter(f'weight_{i}', torch.nn.Parameter(torch.zeros(2, 3)))",
        "    def forward(self, x, numbers, sizes):",
        "        self.weight_0",
        f"        for _ in range({NODES}):",
        "            x = x + 1",
        "        total = sum(numbers) + sum(sizes)",
        f"        elements = list(range({ELEMENTS}))",
        *(f"        local_{i} = x" for i in range(LOCALS)),
        "        return x * total",
        f"torch.compile(Big(), backend='eager', dynamic=True)(torch.ones(4), [i % 7 == 0 for i in range({GUARDED})], ",
        f"    [torch.ones(i + 2).shape[0] for i in range({SYMBOLS})])",
        "",
    ]
)
STOP = 13 + LOCALS
"""The line of the `return`."""


def measure(configuration: dict[str, Any] | None = None) -> Table:
    """Milliseconds to the first page of each view, and the adapter's memory before and after all of them."""
    table = Table(title="The first page of big views, milliseconds")
    for heading in ("view", "rows", "first time", "again"):
        table.add_column(heading)
    for pages in (True, False):
        with tempfile.TemporaryDirectory() as folder, DapClient.spawn(check=False) as client:
            program = Path(folder) / "big.py"
            program.write_text(PROGRAM)
            launch = {"program": str(program), "console": "internalConsole", "record": False, **(configuration or {})}
            client.launch(launch, {program: [STOP]}, initialize={"supportsVariablePaging": pages})
            stop = client.wait_for_stop(timeout=900)
            before = memory_of(client)
            for name, rows, look in views(stop, pages):
                times = [_milliseconds(look) for _ in range(2)]
                table.add_row(name if pages else f"{name}, unpaged", f"{rows:,}", *(f"{each:.1f}" for each in times))
            table.add_row("adapter's memory, MB", "", f"{before:.0f}", f"{memory_of(client):.0f}")
    return table


def views(stop: Stop, pages: bool) -> list[tuple[str, int, Callable[[], object]]]:
    """Every big view: its name, how many rows it has, and what opens it."""
    frame = stop.frames(0, 20)[0]
    scopes = stop.scopes(frame.id)
    found: list[tuple[str, int, Callable[[], object]]] = [
        ("stack and scopes", 0, lambda: stop.scopes(stop.frames(0, 20)[0].id))
    ]
    for name, scope in scopes.items():
        rows = scope.indexed_variables or 0
        found.append((name, rows, lambda scope=scope: first_page(stop, scope, pages)))
    for expression in ("self", "elements", "numbers"):
        shown = stop.evaluate(expression, frame.id, "watch")
        found.append((expression, shown.indexed_variables or 0, lambda shown=shown: first_page(stop, shown, pages)))
    if not pages:
        return found
    for text in ("", "local_99", "self.", "self.weight_49", "elements.", "torch."):
        found.append(
            (
                f"completions: {text!r}",
                len(completed(stop, text, frame.id)),
                lambda t=text: completed(stop, t, frame.id),
            )
        )
    for expression, context in (
        ("elements", "hover"),
        ("len(elements)", "repl"),
        ("self.weight_4999", "watch"),
        ("local_9999.shape", "watch"),
        ("x @ x", "repl"),
        ("ctx.get_local('local_9')", "repl"),
        ("sum(elements)", "repl"),
    ):
        found.append((f"{context}: {expression}", 1, lambda e=expression, c=context: stop.evaluate(e, frame.id, c)))
    return found


def first_page(stop: Stop, heading: Any, pages: bool) -> object:
    """What a client that can page asks for; one that cannot, or gets no count, asks for everything."""
    if pages and heading.indexed_variables:
        return stop.variables(heading.variables_reference, filter="indexed", start=0, count=PAGE)
    return stop.variables(heading.variables_reference)


def completed(stop: Stop, text: str, frame_id: int) -> list[Any]:
    """The completions at the end of `text`."""
    wanted = {"text": text, "column": len(text) + 1, "frameId": frame_id}
    targets: list[Any] = stop.client.request("completions", wanted)["targets"]
    return targets


def memory_of(client: DapClient) -> float:
    """Resident megabytes of the adapter's process."""
    assert client.process is not None
    status = Path(f"/proc/{client.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024


def _milliseconds(action: Callable[[], object]) -> float:
    begun = time.perf_counter()
    action()
    return (time.perf_counter() - begun) * 1e3
