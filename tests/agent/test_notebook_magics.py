"""`%load_ext dynascope` in a kernel: a cell is recorded, another is debugged, and an error is the cell's own."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("ipykernel")

from click.testing import CliRunner
from dynascope.report.command import report
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager

from tests.support.dap.client import DapClient
from tests.support.fork_server import search_path

pytestmark = [pytest.mark.matrix, pytest.mark.main_leg]

COMPILED = """@torch.compile(backend="eager")
def f(x):
    y = x * 2
    print("in f")
    return y.sum()
"""


class Kernel:
    """A kernel, and what its cells put out."""

    def __init__(self, folder: Path) -> None:
        self._manager = KernelManager()
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        self._manager._kernel_spec = KernelSpec(argv=command, display_name="of a test", language="python")
        self._manager.start_kernel(cwd=str(folder), env={"PYTHONPATH": search_path(), "PATH": ""})
        self._client = self._manager.client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=100)

    def run(self, code: str) -> tuple[str, str, str]:
        """Run a cell; return its status, what it prints or raises, and the HTML that it shows."""
        told, shown = [], []
        self.number_of_result = 0

        def hear(message: Any) -> None:
            content = message["content"]
            match message["msg_type"]:
                case "stream":
                    told.append(content["text"])
                case "execute_result" | "display_data":
                    self.number_of_result = content.get("execution_count", self.number_of_result)
                    shown.append(content["data"].get("text/html", content["data"]["text/plain"]))
                case "error":
                    told.append("\n".join(content["traceback"]))

        reply = self._client.execute_interactive(code, timeout=200, output_hook=hear)
        return reply["content"]["status"], re.sub(r"\x1b\[[\d;]*m", "", "".join(told)), "\n".join(shown)

    def end(self) -> None:
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    kernel = Kernel(tmp_path)
    try:
        kernel.run("import torch\n%load_ext dynascope")
        yield kernel
    finally:
        kernel.end()


def test_a_cell_is_recorded_and_its_lines_are_marked(kernel: Kernel, tmp_path: Path):
    status, told, shown = kernel.run(f"%%dynascope\n{COMPILED}f(torch.ones(3)), f(torch.ones(4))")
    assert status == "ok" and told.startswith("in f\nin f\n") and shown.startswith("(tensor(6.), tensor(8.))")
    assert (
        "In [2]:5 Graph break at print(): Failed to trace builtin operator  ×2" in told and '    print("in f")' in told
    )
    assert "In [2]:2 Recompiled because of x.size()[0]: f" in told and "ipykernel" not in told
    assert kernel.number_of_result == 2
    (line,) = (line for line in shown.splitlines() if line.startswith("   5  "))
    assert "print(&quot;in f&quot;)" in line and "◂ Graph break" in line
    assert "<details><summary>Report</summary><iframe" in shown
    assert kernel.run("trace.counts()['graph_break_places']")[2] == "1"
    kernel.run("trace.save()")
    elsewhere = CliRunner().invoke(report, ["--facts", str(tmp_path / ".dynascope")]).output
    assert "In [2]:5 Graph break at print()" in elsewhere and '    print("in f")' in elsewhere
    assert "ipykernel" not in elsewhere
    assert kernel.run("trace.graphs[0].code or 'none'")[2] == "'none'"
    status, told, shown = kernel.run("%%dynascope --graphs\nf(torch.ones(3))")
    assert status == "ok" and "Nothing was compiled: code that was compiled before" in told and shown == "tensor(6.)"
    kernel.run("%%dynascope --graphs\ntorch._dynamo.reset()\nf(torch.ones(3))")
    assert "def forward" in kernel.run("trace.graphs[0].code")[2]


def test_an_error_of_the_cell_is_its_own_and_told_once(kernel: Kernel):
    status, told, _ = kernel.run("%%dynascope\ndef g():\n    1 / 0\ng()")
    assert status == "error" and told.count("ZeroDivisionError: division by zero") == 1
    assert "In[2], line 3" in told and "notebook.py" not in told
    assert told.rstrip().endswith("UsageError: the cell raised ZeroDivisionError")
    status, told, _ = kernel.run("%%dynascope --graph\n1")
    assert status == "error" and "There is no option '--graph'" in told
    assert "above the code of a cell" in kernel.run("%dynascope where")[1]


def test_a_breakpoint_in_a_cell_stops_while_dynamo_traces_it(kernel: Kernel):
    told = kernel.run("%dynascope attach")[1]
    configuration = json.loads(next(line for line in told.splitlines() if line.startswith("{")))
    assert (
        configuration["request"] == "attach"
        and f"dynascope debug --connect 127.0.0.1:{configuration['connect']['port']}" in told
    )
    kernel.run(COMPILED)
    path = kernel.run("print(f.__wrapped__.__code__.co_filename)")[1].strip()
    with DapClient.spawn() as client:
        client.attach({"connect": configuration["connect"]}, {Path(path): [4]})
        cell: list[tuple[str, str, str]] = []
        thread = threading.Thread(target=lambda: cell.append(kernel.run("f(torch.ones(3)).item()")))
        thread.start()
        stop = client.wait_for_stop()
        frame = client.request("stackTrace", {"threadId": stop.thread_id})["stackFrames"][0]
        assert (frame["source"]["name"], frame["line"]) == ("In [3]", 4) and "f32[3]" in stop.locals()["y"].value
        stop.resume()
        thread.join(100)
        assert cell[0][::2] == ("ok", "6.0")
