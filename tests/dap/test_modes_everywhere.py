"""Modes `run` and `generated` at every place where Dynamo can meet a line: debugpy stops there, by a client."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.dap.client import DapClient, Stop
from tests.support.marks import line, program

pytestmark = pytest.mark.second_leg

PLACES = program("everywhere.py")
MARKS = ["plain", "layer", "callee", "breaks", "numbers", "hook"]
LIBRARY = """
def layer(x):
    for i in range(2):
        y = x + i  #: layer
    return y
"""


def launch(client: DapClient, folder: Path, mode: str) -> dict[int, str]:
    """A breakpoint at each place; the mark of each by its id."""
    library = folder / "site-packages" / "everywhere_library.py"
    library.parent.mkdir()
    library.write_text(LIBRARY)
    configuration: dict[str, Any] = {
        "program": str(PLACES),
        "args": [str(library.parent)],
        "console": "internalConsole",
        "subProcess": False,
        "justMyCode": False,
    }
    in_program = [mark for mark in MARKS if mark != "layer"]
    asked = {
        PLACES: [{"line": line(PLACES, mark), "mode": mode} for mark in in_program],
        library: [{"line": line(library, "layer"), "mode": mode}],
    }
    placed = client.launch(configuration, asked)
    assert all(each.verified for each in [*placed[PLACES], *placed[library]])
    marks = {each.id: mark for each, mark in zip(placed[PLACES], in_program, strict=True)}
    return {number: mark for number, mark in marks.items() if number is not None} | {
        placed[library][0].id or 0: "layer"
    }


def stops(client: DapClient) -> Iterator[Stop]:
    """Each stop in turn, until the program ends."""
    while (event := client.wait_for_event("stopped", "terminated"))["event"] == "stopped":
        stop = Stop(client, event["body"])
        yield stop
        stop.resume()


@pytest.mark.matrix
def test_mode_run(client: DapClient, tmp_path: Path) -> None:
    marks = launch(client, tmp_path, "run")
    seen = []
    for stop in stops(client):
        assert not stop.at_compile_time and stop.hit_breakpoint_ids is not None
        (mark,) = (marks[number] for number in stop.hit_breakpoint_ids)
        assert stop.where()[0] == mark and stop.evaluate("type(x).__name__").result == "'Tensor'"
        seen.append((mark, stop.evaluate("i").result))
    assert seen == [(mark, i) for mark in MARKS for i in "01"]


@pytest.mark.second_leg_only
def test_mode_generated(client: DapClient, tmp_path: Path) -> None:
    marks = launch(client, tmp_path, "generated")
    seen = []
    for stop in stops(client):
        assert not stop.at_compile_time and stop.hit_breakpoint_ids is not None
        seen += [(stop.where()[0], marks[number]) for number in stop.hit_breakpoint_ids]
    *seen, (last, mark) = seen
    # of the captured backward, into which the hook was compiled; torch 2.15 compiles that once more
    assert (last.removesuffix(" (generated code)"), mark) == ("forward", "hook")
    assert [(re.sub(r"line \d+", "it", function), mark) for function, mark in seen] == [
        ("plain (generated code)", "plain"),
        ("calls_library (generated code)", "layer"),
        ("calls (generated code)", "callee"),
        ("breaks (generated code)", "breaks"),
        ("breaks (resume function after it)", "breaks"),
        ("consumes (generated code)", "numbers"),
    ]
