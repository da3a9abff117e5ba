"""A program prints the same in a session with debugpy: attached and idle, or stopped and read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.dap.client import DapClient, Stop
from tests.support.dap.launches import LONG, alone, launch
from tests.support.nonperturbation.cold import COLLECTIONS, FOLDER, ROOT, programs

SAMPLE = ("compiles", "program_resume_functions"), ("weak_references", "program_guard_on_a_weak_reference")
_SETTINGS = {"on": "", "off": "gc.disable()", "threshold 1": "gc.set_threshold(1)"}
_DRIVER = """\
import gc, sys
sys.path.insert(0, {root!r})
import torch
from {module} import {program}
torch.manual_seed(0)
{setting}
{program}()
print("end")
"""
_READ_AT_ONCE = 2
"""The frames that are read at a stop, and the levels of their variables."""


def driver(folder: Path, file: str, program: str, collections: str) -> Path:
    path = folder / "driver.py"
    setting = _SETTINGS[collections]
    path.write_text(_DRIVER.format(root=str(ROOT), module=f"{FOLDER}.{file}", program=program, setting=setting))
    return path


def traced_lines(file: str) -> tuple[Path, list[int]]:
    """Return a file of programs, and the first line of each function in a function."""
    path = ROOT.joinpath(*FOLDER.split("."), f"{file}.py")
    tree = ast.parse(path.read_text())
    inner = (each for outer in tree.body for each in ast.walk(outer) if each is not outer)
    return path, sorted(each.body[0].lineno for each in inner if isinstance(each, ast.FunctionDef))


def read(stop: Stop) -> None:
    """Read all scopes of some frames, and what is in their variables."""
    for frame in stop.frames()[:_READ_AT_ONCE]:
        waiting = [(scope.variables_reference, 1) for scope in stop.scopes(frame.id).values()]
        while waiting:
            reference, level = waiting.pop()
            rows = stop.variables(reference).values()
            if level < _READ_AT_ONCE:
                waiting += [(row.variables_reference, level + 1) for row in rows if row.variables_reference]


def stops(client: DapClient) -> Iterator[Stop]:
    while True:
        event = client.wait_for_event("stopped", "terminated", timeout=LONG)
        if event["event"] == "terminated":
            return
        yield Stop(client, event["body"])


def observed(client: DapClient, path: Path, file: str, is_stopped: bool) -> str:
    """Return what the program prints in a session."""
    where, lines = traced_lines(file)
    client.launch(launch(path), {where: lines} if is_stopped else {})
    has_stopped = False
    for stop in stops(client):
        has_stopped = True
        read(stop)
        stop.resume()
    assert has_stopped is is_stopped
    return client.output("stdout")


@pytest.mark.second_leg
@pytest.mark.parametrize(("program", "is_stopped"), [(SAMPLE[0], True), (SAMPLE[1], False)], ids=["stopped", "idle"])
def test_sample(client: DapClient, tmp_path: Path, program: tuple[str, str], is_stopped: bool) -> None:
    path = driver(tmp_path, *program, "on")
    assert observed(client, path, program[0], is_stopped) == alone(path)


@pytest.mark.matrix
@pytest.mark.timeout(600)
@pytest.mark.parametrize("collections", COLLECTIONS)
@pytest.mark.parametrize("is_stopped", [True, False], ids=["stopped", "idle"])
@pytest.mark.parametrize(("file", "program"), programs(), ids=lambda value: str(value).removeprefix("program_"))
def test_program(
    client: DapClient, tmp_path: Path, file: str, program: str, is_stopped: bool, collections: str
) -> None:
    path = driver(tmp_path, file, program, collections)
    assert observed(client, path, file, is_stopped) == alone(path)
