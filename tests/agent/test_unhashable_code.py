"""Generated code that has no hash: debugpy alone breaks the program on it (3.12) or loses the session (3.11)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.dap.client import DapClient

PROGRAM = """\
import torch

@torch.compile(backend="eager")
def f(x):
    class Local: pass          # a graph break; Dynamo's code for it has the module's globals as a constant
    total = x.sum()            # line 6
    return total

print(f(torch.ones(3)), f(torch.ones(3)))
"""


@pytest.mark.parametrize("runtime", [True, False])
def test_the_program_and_the_session_survive(tmp_path: Path, runtime: bool):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    with DapClient.spawn() as client:
        client.launch({"program": str(program), "console": "internalConsole", "runtime": runtime}, {program: [6]})
        stop = client.wait_for_stop()
        assert stop.at_compile_time and stop.where() == ("f [1/0]", 6)
        assert stop.frames()[-1].name == "<module>"
        stop.resume()
        assert client.wait_for_end() == 0
        assert client.output("stdout") == "tensor(3.) tensor(3.)\n"
        assert ("constants without a hash" in client.output("important")) is runtime
