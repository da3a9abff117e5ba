"""Compiles side by side by a client: at the stop where one begins, while it is traced, and when it is done."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dynascope.facts.store import FOLDER_VARIABLE

from tests.support.dap.client import DapClient, RequestFailed
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY

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
INLINED = """\
import torch

def inner(x):
    z = x + 1
    return z

def f(x, mode):
    y = inner(x)
    return y if mode else -y

compiled = torch.compile(f, backend="eager")
compiled(torch.ones(3), True)
compiled(torch.ones(4), True)
print("done")
"""
CONTAINERS = """\
import torch

def f(x, options):
    parts = []
    parts.append(x)
    parts += [x + 1]
    if options.get("more") and MORE:
        parts.append(x + 2)
    options["calls"] = 1
    return parts[0] + len(parts)

MORE, compiled = False, torch.compile(f, backend="eager")
compiled(torch.ones(3), {"more": True})
MORE = True; compiled(torch.ones(3), {"more": True})
print("done")
"""
BREAKING = """\
import torch

def inner(x):
    print("a break")
    return x + 1

def f(x):
    y = inner(x)
    return y

torch.compile(f, backend="eager")(torch.ones(3))
print("done")
"""


@pytest.fixture
def launched(spawn: Callable[..., DapClient], tmp_path: Path) -> Callable[..., tuple[DapClient, Path]]:
    def launch(*lines: int, text: str = PROGRAM, **configuration: Any) -> tuple[DapClient, Path]:
        client, file = spawn(environment={FOLDER_VARIABLE: ""}), tmp_path / "program.py"
        file.write_text(text)
        started = {"program": str(file), "cwd": str(tmp_path), "console": "internalConsole", "subProcess": False}
        client.launch(started | configuration, {file: list(lines)})
        return client, file

    return launch


@WITH_AND_WITHOUT_DEBUGPY
def test_a_compile_is_compared_while_it_is_traced(launched: Callable[..., Any], runtime: bool) -> None:
    client, file = launched(BRANCH, AFTER, runtime=runtime)
    for _ in range(2):  # the first compile
        client.wait_for_stop().resume()
    stop = client.wait_for_stop()
    assert stop.where() == ("f [0/1]", BRANCH)
    begun = client.request("dynascopeCompare", {})
    assert (begun["left"], begun["right"], begun["function"]) == ("0/0", "0/1", "f")
    assert "first" not in begun and "Nothing differs so far" in begun["summary"][-1]
    assert begun["summary"][-1].endswith("It has not read doubled in 0/1 yet.")
    assert any(row.count("· x = f32[3]") == 2 for row in begun["columns"]), "both have read it"
    assert not any("┃" in row for row in begun["columns"]), "what is not traced yet is no difference"
    with pytest.raises(RequestFailed, match="Dynamo still traces 0/1: until it has ended, name it last"):
        client.request("dynascopeCompare", {"left": "0/1", "right": "0/0"})
    assert any("The guard of 0/0 that failed: doubled == False; met doubled: True" in row for row in begun["summary"])
    stop.resume()
    stop = client.wait_for_stop()
    assert stop.where() == ("f [0/1]", AFTER)
    found = client.request("dynascopeCompare", {"left": "0/0", "right": "0/1"})
    assert (found["first"]["line"], found["first"]["source"]["path"]) == (3, str(file)), "it has read the flag by now"
    assert f"Then, at program.py:{BRANCH}: 0/0 goes on at line {AFTER} next, and 0/1 goes on at line {TAKEN}." in (
        each.partition(" The guard")[0] for each in found["summary"]
    )
    (marked,) = [row for row in found["columns"] if row.startswith("▶")]
    assert marked.count("def f(x, doubled):") == 2, "both sides of the first difference"
    stop.resume()
    assert client.wait_for_end() == 0


def test_finished_compiles_are_compared_at_run_time(launched: Callable[..., Any]) -> None:
    client, _ = launched(DONE)
    stop = client.wait_for_stop()
    found = client.request("dynascopeCompare", {})
    assert found == client.request("dynascopeCompare", {"left": "0/0", "right": "0/1"})
    assert found == client.request("dynascopeCompare", {"right": "0/1"})
    assert "doubled is False in 0/0, and True in 0/1." in found["summary"][2]
    for names in ({"left": "7/0", "right": "0/1"}, {"right": "7/0"}):
        with pytest.raises(RequestFailed, match=r"No compile 7/0 is recorded\. The newest are 0/0, 0/1\."):
            client.request("dynascopeCompare", names)
    with pytest.raises(RequestFailed, match="0/0 replaces no compile"):
        client.request("dynascopeCompare", {"right": "0/0"})
    stop.resume()
    assert client.wait_for_end() == 0


def test_what_callers_have_read_is_compared_at_a_stop(launched: Callable[..., Any]) -> None:
    client, _ = launched(5, 14, text=INLINED)
    client.wait_for_stop().resume()
    stop = client.wait_for_stop()
    assert stop.where() == ("inner [0/1]", 5)
    found = client.request("dynascopeCompare", {})
    assert re.search(
        r"First difference, at program\.py:7: x is f32\[3\] in 0/0, and f32\[s\d+\] in", found["summary"][2]
    )
    stop.resume()
    stop = client.wait_for_stop()
    finished = client.request("dynascopeCompare", {})
    stop.resume()
    assert client.wait_for_end() == 0
    client, _ = launched(14, text=INLINED)
    stop = client.wait_for_stop()
    assert client.request("dynascopeCompare", {}) == finished, "to compare at a stop changes nothing that is recorded"
    stop.resume()
    assert client.wait_for_end() == 0


def test_containers_are_told_as_they_are_at_the_first_difference(launched: Callable[..., Any]) -> None:
    client, _ = launched(10, text=CONTAINERS)
    client.wait_for_stop().resume()
    stop = client.wait_for_stop()
    found = client.request("dynascopeCompare", {})
    assert found["first"]["line"] == 7
    for name in ("0/0", "0/1"):
        assert f"There in {name}: x = f32[3], options = {{'more': True}}, parts = [f32[3], f32[3]]." in found["summary"]
    stop.resume()
    assert client.wait_for_end() == 0


def test_a_break_in_a_function_that_is_called_is_told_at_the_line_of_the_call(launched: Callable[..., Any]) -> None:
    client, _ = launched(12, text=BREAKING)
    stop = client.wait_for_stop()
    found = client.request("dynascopeCompare", {"left": "0/0_0", "right": "0/0_1"})
    differs = r"0/0_0 calls inner, and 0/0_1 breaks the graph \(.+ at program\.py:4 in inner\)\."
    assert re.fullmatch(rf"First difference, at program\.py:8: {differs}", found["summary"][1]), found["summary"]
    assert found["first"]["line"] == 8
    (marked,) = [row for row in found["columns"] if row.startswith("▶")]
    assert marked.count("y = inner(x)") == 2
    stop.resume()
    assert client.wait_for_end() == 0


def test_a_session_that_records_nothing_says_so(launched: Callable[..., Any]) -> None:
    client, _ = launched(BRANCH, record=False)
    stop = client.wait_for_stop()
    with pytest.raises(RequestFailed, match="this session records nothing"):
        client.request("dynascopeCompare", {})
    stop.resume()
