"""A breakpoint that was never hit says why, while the program runs and when it has ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dap.client import DapClient

PROGRAM = """\
import torch

FAST = True


def compiled(x):
    if FAST:
        y = x + 1
    else:
        y = x - 1
    return y


def never_called(x):
    return x


def conditional(x):
    return x * 2


torch.compile(compiled, backend="eager")(torch.ones(2))
torch.compile(conditional, backend="eager")(torch.ones(2))
"""


@pytest.mark.parametrize("runtime", [True, False])
def test_a_breakpoint_that_was_never_hit_says_why(client: DapClient, tmp_path: Path, runtime: bool) -> None:
    path, other = tmp_path / "program.py", tmp_path / "other.py"
    path.write_text(PROGRAM)
    other.write_text("def f(x):\n    return x\n")
    branch, never, hit = 10, 15, 8
    condition = {"line": 19, "condition": "x.shape[0] == 9"}
    client.launch(
        {"program": str(path), "console": "internalConsole", "subProcess": False, "runtime": runtime},
        {path: [branch, never, hit, condition], other: [2]},
    )
    stop = client.wait_for_stop()
    assert stop.where() == ("compiled [0/0]", hit)
    stop.resume()
    changed = client.wait_for_event("breakpoint", where=lambda body: body["breakpoint"].get("line") == branch)
    assert "did not come to this line" in changed["body"]["breakpoint"]["message"]
    assert client.wait_for_end() == 0
    said = client.output("console")
    assert f"program.py:{branch}: the breakpoint was never hit. Compiled, but Dynamo did not come to this line" in said
    assert f"program.py:{never}: the breakpoint was never hit. never_called was not called" in said
    assert "other.py:2: the breakpoint was never hit. Its file was never imported" in said
    assert "Dynamo came here once, and its condition (x.shape[0] == 9) never held" in said
    assert f"program.py:{hit}:" not in said
