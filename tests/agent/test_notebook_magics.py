"""`%load_ext dynascope` in a kernel: a cell is recorded, another is debugged, and an error is the cell's own."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("ipykernel")

from click.testing import CliRunner
from dynascope.report.command import report
from jupyter_client.blocking import BlockingKernelClient
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


_REQUEST = {"silent": False, "store_history": False, "user_expressions": {}, "allow_stdin": False}


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

    @contextmanager
    def beside(self, has_subshell: bool) -> Iterator[Callable[[str], str]]:
        """Give a function that runs a cell while another holds the kernel, and returns what is put out meanwhile.

        In a subshell, or by the control channel, as whose output ipykernel takes the stopped cell's.
        """
        client = BlockingKernelClient(connection_file=self._manager.connection_file)
        client.load_connection_file()
        client.start_channels()
        subshell = {}
        if has_subshell:
            client.control_channel.send(client.session.msg("create_subshell_request", {}))
            subshell = {"subshell_id": client.get_control_msg(timeout=100)["content"]["subshell_id"]}

        def run(code: str) -> str:
            message = client.session.msg("execute_request", {**_REQUEST, "code": code})
            message["header"] |= subshell
            (client.shell_channel if subshell else client.control_channel).send(message)
            told = []
            while True:
                heard = client.get_iopub_msg(timeout=100)
                told += [heard["content"][name] for name in ("text", "evalue") if name in heard["content"]]
                is_answer = heard["parent_header"].get("msg_id") == message["header"]["msg_id"]
                if is_answer and heard["content"].get("execution_state") == "idle":
                    return re.sub(r"\x1b\[[\d;]*m", "", "".join(told))

        try:
            yield run
        finally:
            client.stop_channels()

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
    assert "above the code of a cell" in kernel.run("%dynascope")[1]
    assert "No thread is stopped at compile time." in kernel.run("%dynascope where")[1]


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
        for has_subshell in (True, False):
            with kernel.beside(has_subshell) as run:
                where = run("%dynascope where").splitlines()
                assert where[0].split() == [">", "#0", "f", "[0/0]", "In", "[3]:4"]
                assert where[-1].split() == ["#1", "<module>", "In", "[5]:1"]
                assert [row.split()[:2] for row in run("%dynascope locals").splitlines()] == [
                    ["x", "f32[3]"],
                    ["y", "f32[3]"],
                ]
                assert "f32[3]  TENSOR_MATCH at In [3]:3" in run("%dynascope guards x")
                assert "This is the first compile of f." in run("%dynascope why")
                assert "There is no frame 7: `%dynascope where` lists the frames." in run("%dynascope locals --frame 7")
                assert "No guard so far contains `nothing`." in run("%dynascope guards nothing")
                assert "There is no `nothing` here: ask for where, print EXPRESSION, locals, " in run(
                    "%dynascope nothing"
                )
                assert "Locals has no row with `nothing`." in run("%dynascope locals nothing")
                assert "Frame 1 is of the running program: the attached" in run("%dynascope locals --frame 1")
                assert run("%dynascope print y.shape[0] + {1: 2}[1]").strip() == "5"
                assert run("%dynascope graph").split()[:3] == ["l_x_", "f32[3]", "x"]
        stop.resume()
        thread.join(100)
        assert cell[0][::2] == ("ok", "6.0")
