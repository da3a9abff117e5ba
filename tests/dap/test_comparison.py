"""Compiles side by side by a client: at the stop where one begins, while it is traced, and when it is done."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dynascope.facts.store import FOLDER_VARIABLE

from tests.support.dap.client import DapClient, RequestFailed

PROGRAM = """\
import torch

def f(x, doubled):
    y = x + 1
    if doubled:
        y = y * 2
    return y.relu()

compiled = torch.compile(f, backend="eager")
compiled(torch.ones(3), False)
compiled(torch.ones(3), True)
print("done")
"""
BRANCH, TAKEN, AFTER, DONE = 5, 6, 7, 12


@pytest.fixture
def launched(spawn: Callable[..., DapClient], tmp_path: Path) -> Callable[..., tuple[DapClient, Path]]:
    def launch(*lines: int, **configuration: Any) -> tuple[DapClient, Path]:
        client, file = spawn(environment={FOLDER_VARIABLE: ""}), tmp_path / "program.py"
        file.write_text(PROGRAM)
        started = {"program": str(file), "cwd": str(tmp_path), "console": "internalConsole", "subProcess": False}
        client.launch(started | configuration, {file: list(lines)})
        return client, file

    return launch


@pytest.mark.parametrize("runtime", [True, False])
def test_a_compile_is_compared_while_it_is_traced(launched: Callable[..., Any], runtime: bool) -> None:
    client, file = launched(BRANCH, AFTER, runtime=runtime)
    for _ in range(2):  # the first compile
        client.wait_for_stop().resume()
    stop = client.wait_for_stop()
    assert stop.where() == ("f [0/1]", BRANCH)
    begun = client.request("dynascopeCompare", {})
    assert (begun["left"], begun["right"], begun["function"]) == ("0/0", "0/1", "f")
    assert "first" not in begun and "Nothing differs so far" in begun["summary"][-1]
    assert any("The guard of 0/0 that failed: doubled == False; met doubled: True" in row for row in begun["summary"])
    stop.resume()
    stop = client.wait_for_stop()
    assert stop.where() == ("f [0/1]", AFTER)
    found = client.request("dynascopeCompare", {"left": "0/0", "right": "0/1"})
    assert (found["first"]["line"], found["first"]["source"]["path"]) == (BRANCH, str(file))
    assert (found["leftNext"]["line"], found["rightNext"]["line"]) == (AFTER, TAKEN)
    (marked,) = [row for row in found["columns"] if row.startswith("▶")]
    assert marked.count("if doubled:") == 2, "both sides of the first difference"
    stop.resume()
    assert client.wait_for_end() == 0


def test_finished_compiles_are_compared_at_run_time(launched: Callable[..., Any]) -> None:
    client, _ = launched(DONE)
    stop = client.wait_for_stop()
    found = client.request("dynascopeCompare", {})
    assert found == client.request("dynascopeCompare", {"left": "0/0", "right": "0/1"})
    assert found == client.request("dynascopeCompare", {"right": "0/1"})
    assert "doubled is False in 0/0, and True in 0/1." in found["summary"][2]
    with pytest.raises(RequestFailed, match="No compile 7/0 is recorded"):
        client.request("dynascopeCompare", {"left": "7/0", "right": "0/1"})
    stop.resume()
    assert client.wait_for_end() == 0


def test_a_session_that_records_nothing_says_so(launched: Callable[..., Any]) -> None:
    client, _ = launched(BRANCH, record=False)
    stop = client.wait_for_stop()
    with pytest.raises(RequestFailed, match="this session records nothing"):
        client.request("dynascopeCompare", {})
    stop.resume()
