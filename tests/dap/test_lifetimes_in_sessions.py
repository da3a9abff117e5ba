"""A program prints the same in a session with debugpy: attached and idle, or stopped and read."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.dap.client import DapClient, Stop
from tests.support.dap.launches import LONG, alone, launch
from tests.support.legs import IS_FIRST
from tests.support.nonperturbation.cold import COLLECTIONS, FOLDER, ROOT, programs

Program = tuple[str, str]
"""The file of a program, and its name."""
NEVER_STOPS = "program_module_of_python_dropped"
"""The program whose compiled functions are in a file that it writes."""
CHANGED_BY_DEBUGPY = "program_threads_that_compile", "program_cached_property_and_slots"
"""Programs that show what pydevd does: it keeps the objects of threads, whose ids are in its names of them; and at run
time it evaluates the properties of a value that a client opens."""
COUNTS_COLLECTIONS = ("program_gc_callbacks",)
"""Programs that print how often the collector ran, which depends on how many objects there are: debugpy's, too."""
SAMPLE = ("python_features", "program_callable_of_a_backend"), ("python_features", "program_types_made_on_the_fly")
_SETTINGS = {"on": "pass", "off": "gc.disable()", "threshold 1": "gc.set_threshold(1)"}
_TITLE = "=== "
_DRIVER = """\
import gc, importlib, sys
sys.path.insert(0, {root!r})
import torch
for module, program in {programs!r}:
    print({title!r} + program)
    torch.manual_seed(0)
    {setting}
    getattr(importlib.import_module(module), program)()
    torch._dynamo.reset()
    gc.collect()
    gc.enable()
    gc.set_threshold(700, 10, 10)
"""
_READ_AT_ONCE = 2
"""The frames that are read at a stop, and the levels of their variables."""


def compared() -> list[Program]:
    return [each for each in programs() if each[1] not in CHANGED_BY_DEBUGPY]


def driver(folder: Path, programs: Iterable[Program], collections: str) -> Path:
    """Write a program that runs others in turn."""
    path = folder / "driver.py"
    modules = [(f"{FOLDER}.{file}", program) for file, program in programs]
    setting = _SETTINGS[collections]
    path.write_text(_DRIVER.format(root=str(ROOT), programs=modules, title=_TITLE, setting=setting))
    return path


def traced_lines(file: str) -> tuple[Path, list[int]]:
    """Return a file of programs, and the first line of each function in a function."""
    path = ROOT.joinpath(*FOLDER.split("."), f"{file}.py")
    tree = ast.parse(path.read_text())
    inner = (each for outer in tree.body for each in ast.walk(outer) if each is not outer)
    return path, sorted(each.body[0].lineno for each in inner if isinstance(each, ast.FunctionDef))


def read(stop: Stop) -> None:
    """Read all scopes of some frames, and what is in their variables, modules apart."""
    for frame in stop.frames()[:_READ_AT_ONCE]:
        waiting = [(scope.variables_reference, 1) for scope in stop.scopes(frame.id).values()]
        while waiting:
            reference, level = waiting.pop()
            rows = [row for row in stop.variables(reference).values() if row.type != "module"]
            if level < _READ_AT_ONCE:
                waiting += [(row.variables_reference, level + 1) for row in rows if row.variables_reference]


def stops(client: DapClient) -> Iterator[Stop]:
    while True:
        event = client.wait_for_event("stopped", "terminated", timeout=LONG)
        if event["event"] == "terminated":
            return
        yield Stop(client, event["body"])


def observed(client: DapClient, path: Path, files: Iterable[str], is_stopped: bool) -> tuple[str, bool]:
    """Return what the program prints in a session, and whether it has stopped."""
    client.launch(launch(path), dict(map(traced_lines, files)) if is_stopped else {})
    has_stopped = False
    for stop in stops(client):
        has_stopped = True
        read(stop)
        stop.resume()
    return client.output("stdout"), has_stopped


def by_program(output: str) -> dict[str, str]:
    """Return what each program has printed."""
    return {name: printed for name, _, printed in (part.partition("\n") for part in output.split(_TITLE)[1:])}


Compare = Callable[[Sequence[Program], str], None]


@pytest.fixture
def compare(spawn: Callable[..., DapClient], tmp_path: Path) -> Compare:
    """Compare what programs print in sessions with what they print alone.

    debugpy's own objects bring a collection forward or put it off. Where a program prints the same in another order, or
    with a threshold of 1 something else, it has to print the same in the same order with the collector off.
    """

    def in_sessions(programs: Sequence[Program], collections: str) -> None:
        path = driver(tmp_path, programs, collections)
        plain = by_program(alone(path))
        assert list(plain) == [name for _, name in programs]
        moved: set[str] = set()
        for is_stopped in (False, True):
            output, has_stopped = observed(spawn(), path, {file for file, _ in programs}, is_stopped)
            assert has_stopped is (is_stopped and list(plain) != [NEVER_STOPS])
            seen = by_program(output)
            differs = {name: (printed, seen.get(name)) for name, printed in plain.items() if printed != seen.get(name)}
            if collections != "off":
                is_anything = collections == "threshold 1"
                moved |= {
                    name
                    for name in differs
                    if is_anything or name in COUNTS_COLLECTIONS or is_in_other_order(plain[name], seen.get(name, ""))
                }
                differs = {name: outputs for name, outputs in differs.items() if name not in moved}
            assert differs == {}, "stopped and read" if is_stopped else "attached and idle"
        if moved:
            in_sessions([each for each in programs if each[1] in moved], "off")

    return in_sessions


def is_in_other_order(plain: str, seen: str) -> bool:
    return sorted(plain.splitlines()) == sorted(seen.splitlines())


@pytest.mark.second_leg
def test_sample(compare: Compare) -> None:
    compare(SAMPLE, "on")


@pytest.mark.matrix
@pytest.mark.main_leg
@pytest.mark.timeout(600)
@pytest.mark.parametrize("program", compared(), ids=lambda program: program[1].removeprefix("program_"))
def test_program(compare: Compare, program: Program) -> None:
    compare([program], "on")


def cases() -> list[Any]:
    """Return the files, but on the first leg, and for that two with other settings."""
    files = [] if IS_FIRST else sorted({file for file, _ in programs()})
    found = [pytest.param(file, "on") for file in files]
    others = itertools.product(("finalizers", "weak_references"), COLLECTIONS[1:])
    return [*found, *(pytest.param(*each, marks=pytest.mark.main_leg) for each in others)]


@pytest.mark.matrix
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("file", "collections"), cases())
def test_file(compare: Compare, file: str, collections: str) -> None:
    """Compare the programs of a file in one process: a session for each takes long, and the first leg has them."""
    compare([each for each in compared() if each[0] == file], collections)
