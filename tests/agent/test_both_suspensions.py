"""The programs of `test_stops`, run whole: their threads wait inside pydevd, and in our own loop."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.dap.client import DapClient, Stop
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import PROGRAMS, expectations, labels


@pytest.fixture
def client() -> Iterator[DapClient]:
    with DapClient.spawn() as client:
        yield client


def configuration(program: Path, **more: Any) -> dict[str, Any]:
    return {"program": str(program), "console": "internalConsole", "subProcess": False, "justMyCode": True} | more


def stops_of(client: DapClient) -> Iterator[Stop]:
    """Until the program ends; each stop is resumed with `continue` when the next is asked for."""
    while (event := client.wait_for_event("stopped", "terminated"))["event"] == "stopped":
        stop = Stop(client, event["body"])
        yield stop
        stop.resume()


@WITH_AND_WITHOUT_DEBUGPY
@pytest.mark.parametrize("name", ["calls", "breaks"])
def test_every_marked_line_stops_as_it_says(client: DapClient, name: str, runtime: bool) -> None:
    path = PROGRAMS / "traced" / f"{name}.py"
    expected = expectations(path)
    client.launch(configuration(path, runtime=runtime), {path: sorted(expected)})
    seen: dict[int, list[str]] = {}
    for stop in stops_of(client):
        if stop.at_compile_time:
            frame, line = stop.where()
            seen.setdefault(line, []).append(frame)
    assert seen == {line: [each.frame for each in stops] for line, stops in expected.items()}


@pytest.mark.matrix
@pytest.mark.real_processes
@WITH_AND_WITHOUT_DEBUGPY
def test_files_of_the_user_may_be_named_like_ours(client: DapClient, tmp_path: Path, runtime: bool) -> None:
    (tmp_path / "hook.py").write_text("def double(value):\n    return value * 2  #: double\n")
    program = tmp_path / "stop.py"
    program.write_text(
        "import torch\nimport hook\n\n\ndef fn(x):\n    return hook.double(x)\n\n\n"
        "hook.double(1)  #: eager\ntorch.compile(fn, backend='eager')(torch.ones(2))\n"
    )
    files = {tmp_path / "hook.py": [2], program: [labels(program)["eager"]]}
    client.launch(configuration(program, runtime=runtime), files)
    places = [stop.where() for stop in stops_of(client)]
    at_runtime = [("<module>", 9), ("double", 2)] if runtime else []
    assert places == [*at_runtime, ("double [0/0]", 2)]
