"""Hit conditions count once, whether Dynamo traces a line or the line runs; and what breakpoints say when they stop."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.dap.client import DapClient, Stop
from tests.support.marks import one_in

PROGRAM = """\
import torch

torch._dynamo.config.recompile_limit = 3


def inner(x, i):
    return x + i


@torch.compile(backend="eager", dynamic=False)
def f(x):
    for i in range(6):
        x = inner(x, i)
    return x


for size in range(2, 8):
    f(torch.ones(size))
"""
BODY = 7


def stops_of(client: DapClient, path: Path, asked: dict[str, object]) -> list[str]:
    """Size and loop variable at each stop; the program has three compiles, and then runs uncompiled three times."""
    path.write_text(PROGRAM)
    configuration = {"program": str(path), "console": "internalConsole", "subProcess": False}
    client.launch(configuration, {path: [{"line": BODY, **asked}]})
    seen = []
    while (event := client.wait_for_event("stopped", "terminated"))["event"] == "stopped":
        stop = Stop(client, event["body"])
        frame = stop.frames(0, 1)[0].id
        answer = client.request("evaluate", {"expression": "(x.shape[0], i)", "frameId": frame, "context": "watch"})
        seen.append(answer["result"])
        stop.resume()
    return seen


@pytest.mark.parametrize(
    ("asked", "stops"),
    one_in(
        3,
        [
            ({"hitCondition": "== 5"}, ["(2, 4)"]),
            ({"hitCondition": "8"}, ["(3, 1)"]),
            ({"hitCondition": "<= 2"}, ["(2, 0)", "(2, 1)"]),
            ({"hitCondition": "== 19"}, ["(5, 0)"]),
            ({"hitCondition": "% 10"}, ["(3, 3)", "(5, 1)", "(6, 5)"]),
            ({"hitCondition": ">= 10", "condition": "i % 3 == 0  # every third"}, ["(6, 3)", "(7, 0)", "(7, 3)"]),
        ],
    ),
)
def test_hits_are_counted_over_compiles_and_runs(
    client: DapClient, tmp_path: Path, asked: dict[str, object], stops: list[str]
) -> None:
    assert stops_of(client, tmp_path / "program.py", asked) == stops


def test_a_logpoint_with_both_conditions(client: DapClient, tmp_path: Path) -> None:
    asked = {"logMessage": "pass {i} of {x.shape[0]}", "condition": "i % 3 == 0", "hitCondition": "% 5"}
    assert stops_of(client, tmp_path / "program.py", asked) == []
    said = client.output("console", "stdout")
    assert [line for line in said.splitlines() if line.startswith("pass")] == ["pass 0 of 4", "pass 3 of 6"]
    assert "ever hit" not in said


def test_a_breakpoint_says_at_its_stop_that_it_has_stopped(client: DapClient, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    configuration = {"program": str(path), "console": "internalConsole", "subProcess": False}
    placed = client.launch(configuration, {path: [{"line": BODY, "hitCondition": "1"}]})[path]
    expected = (
        "Not compiled yet: the breakpoint stops when Dynamo traces the line, and when the line runs uncompiled. "
        "Its hits count over all compiles, and when it runs uncompiled."
    )
    assert placed[0].message == expected
    stop = client.wait_for_stop()
    changed = client.wait_for_event("breakpoint", where=lambda body: body["breakpoint"]["id"] == placed[0].id)
    assert changed["body"]["breakpoint"]["message"].startswith(
        "Stopped here: the breakpoint stops again when Dynamo traces the line again"
    )
    again = client.request(
        "setBreakpoints",
        {
            "source": {"path": str(path)},
            "breakpoints": [{"line": BODY, "hitCondition": "1"}, {"line": 14, "condition": "x.shape[0] == 99"}],
        },
    )["breakpoints"]
    assert again[0]["message"].startswith("Stopped here")
    stop.resume()
    assert client.wait_for_end() == 0
    said = client.output("console")
    assert f"program.py:{BODY}: the breakpoint was never hit" not in said
    assert "program.py:14: the breakpoint was never hit. It was reached " in said


def test_a_breakpoint_that_stopped_only_where_its_line_runs_was_hit(client: DapClient, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    assert stops_of(client, path, {"condition": "x.shape[0] == 7 and i == 0"}) == ["(7, 0)"]
    assert "never hit" not in client.output("console")


def test_a_hit_condition_that_never_held_says_how_often_its_condition_did(client: DapClient, tmp_path: Path) -> None:
    assert stops_of(client, tmp_path / "program.py", {"condition": "i == 0", "hitCondition": "> 9"}) == []
    assert "It was reached 36 times, its condition (i == 0) held 6 times in all, and its hit condition is > 9." in (
        client.output("console")
    )


OF_RANKS = """\
import torch


@torch.compile(backend="eager")
def f(x):
    return x + 1


def g(x):
    y = x * 2
    return y


g(f(torch.ones(3)))
"""


@pytest.mark.parametrize(("rank", "lines"), [("1", [6, 10]), ("2", [])])
def test_a_condition_may_ask_for_the_rank(client: DapClient, tmp_path: Path, rank: str, lines: list[int]):
    path = tmp_path / "rank.py"
    path.write_text(OF_RANKS)
    asked = [{"line": line, "condition": condition} for line, condition in ((6, "rank == 1"), (10, "1 == rank"))]
    configuration = {"program": str(path), "console": "internalConsole", "env": {"RANK": rank}}
    client.launch(configuration, {path: asked})
    seen = []
    while (event := client.wait_for_event("stopped", "terminated"))["event"] == "stopped":
        stop = Stop(client, event["body"])
        seen.append(stop.frames(0, 1)[0].line)
        stop.resume()
    assert seen == lines
