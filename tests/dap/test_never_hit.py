"""A breakpoint that was never hit says why, while the program runs and when it has ended."""

from __future__ import annotations

from pathlib import Path

from tests.support.dap.client import DapClient
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY

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


@WITH_AND_WITHOUT_DEBUGPY
def test_a_breakpoint_that_was_never_hit_says_why(client: DapClient, tmp_path: Path, runtime: bool) -> None:
    path, other = tmp_path / "program.py", tmp_path / "other.py"
    path.write_text(PROGRAM)
    other.write_text("def f(x):\n    return x\n")
    branch, never, hit = 10, 15, 8
    condition = {"line": 19, "condition": "x.shape[0] == 9"}
    placed = client.launch(
        {"program": str(path), "console": "internalConsole", "subProcess": False, "runtime": runtime},
        {path: [branch, never, hit, condition], other: [2]},
    )
    otherwise = ", and when the line runs uncompiled." if runtime else "."
    assert placed[path][1].message == f"Not compiled yet: the breakpoint stops when Dynamo traces the line{otherwise}"
    stop = client.wait_for_stop()
    assert stop.where() == ("compiled [0/0]", hit)
    stop.resume()
    changed = client.wait_for_event("breakpoint", where=lambda body: body["breakpoint"].get("line") == branch)
    assert "did not come to this line" in changed["body"]["breakpoint"]["message"]
    assert client.wait_for_end() == 0
    said = client.output("console")
    assert f"program.py:{branch}: the breakpoint was never hit. Dynamo traced compiled, but never this line" in said
    assert f"program.py:{never}: the breakpoint was never hit. Dynamo did not trace never_called" in said
    assert "other.py:2: the breakpoint was never hit. Its file was never imported" in said
    assert "Dynamo came here once, and its condition (x.shape[0] == 9) never held" in said
    assert f"program.py:{hit}:" not in said
    told = [event["body"] for event in client.events if event["event"] == "output" and "source" in event["body"]]
    assert (str(other), 2) in [(body["source"]["path"], body["line"]) for body in told], "each line is a link"


UNTOUCHED = """\
import torch


def quiet(x, items):
    y = x.view(-1)
    n = x.shape[0]
    z = torch.ones(3)
    z = z + 1
    return y.double(), n, z


def never_called(x):
    return x


def given_up(x):
    torch._dynamo.graph_break()
    return x


def inlines(x):
    return given_up(x)


try:
    torch.compile(inlines, backend="eager", fullgraph=True)(torch.ones(4))
except torch._dynamo.exc.Unsupported:
    pass
torch.compile(quiet, backend="eager", dynamic=True)(torch.ones(4, 4), [])
"""


@WITH_AND_WITHOUT_DEBUGPY
def test_a_data_breakpoint_that_was_never_hit_says_why(client: DapClient, tmp_path: Path, runtime: bool) -> None:
    path = tmp_path / "program.py"
    path.write_text(UNTOUCHED)
    in_quiet, in_never = f"local::{path}::quiet::", f"local::{path}::never_called::"
    wanted: list[dict[str, str]] = [
        {"dataId": in_quiet + "items", "accessType": "read"},
        {"dataId": in_quiet + "items", "accessType": "write"},
        {"dataId": in_quiet + "x.shape[0]", "accessType": "write"},
        {"dataId": in_quiet + "x.shape[7]", "accessType": "write"},
        {"dataId": in_quiet + "nobody", "accessType": "write"},
        {"dataId": f"source::{path}::quiet::L['items']", "accessType": "read"},
        {"dataId": f"symbol::{path}::quiet::s99", "accessType": "write"},
        {"dataId": f"node::{path}::quiet::nobody", "accessType": "read"},
        {"dataId": in_quiet + "x", "accessType": "read", "condition": "x.shape[0] == 9"},
        {"dataId": in_quiet + "z", "accessType": "write"},
        {"dataId": in_never + "x", "accessType": "readWrite"},
        {"dataId": f"local::{path}::given_up::x", "accessType": "write"},
        {"dataId": in_quiet + "x", "accessType": "read", "hitCondition": "1"},
    ]
    placed: list[dict[str, int]] = []
    client.launch(
        {"program": str(path), "console": "internalConsole", "subProcess": False, "runtime": runtime},
        before_running=lambda: placed.extend(
            client.request("setDataBreakpoints", {"breakpoints": wanted})["breakpoints"]
        ),
    )
    stop = client.wait_for_stop()
    assert stop.hit_breakpoint_ids == [placed[-1]["id"]]
    stop.resume()
    expected = [
        "Dynamo compiled quiet. No guard on items was installed, and no node that entered the graph takes it",
        "Dynamo compiled quiet. items stayed ",
        "stayed dynamic: nothing specialised, refined or constrained it",
        "Dynamo compiled quiet. x.shape[7] never had a value.",
        "Dynamo compiled quiet. There is no nobody in quiet.",
        "Dynamo compiled quiet. No guard on L['items'] was installed",
        "There was no symbol s99",
        "No node that entered the graph takes nobody as an input.",
        "its condition (x.shape[0] == 9) never held",
        "z stayed f32[3]: it got no other shape, dtype or device, and nothing mutated it.",
        "Dynamo did not trace never_called: it did not run, or only uncompiled.",
        "Dynamo gave up each compile of given_up.",
    ]
    told = [
        client.wait_for_event("breakpoint", where=lambda body, id=each["id"]: body["breakpoint"]["id"] == id)
        for each in placed[:-1]
    ]
    for text, event in zip(expected, told, strict=True):
        message = event["body"]["breakpoint"]["message"]
        assert message.startswith("Never hit. ") and text in message
    assert client.wait_for_end() == 0
    said = client.output("console")
    for text in expected:
        assert "a data breakpoint: the breakpoint was never hit. " in said and text in said
    assert said.count("was never hit") == len(expected)


def test_a_line_after_a_break_whose_rest_has_no_operations(client: DapClient, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        "import torch\n\n\ndef gate(x):\n    print('break')\n    if x is None:\n        return 0\n    return x\n\n\n"
        "torch.compile(gate, backend='eager')(torch.ones(2))\n"
    )
    client.launch({"program": str(path), "console": "internalConsole", "subProcess": False}, {path: [7]})
    assert client.wait_for_end() == 0
    assert "program.py:7: the breakpoint was never hit. Dynamo traced gate, but never this line" in client.output(
        "console"
    )
