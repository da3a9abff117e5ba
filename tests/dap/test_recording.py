"""A debug session records: what Dynamo decides is kept, as `dynascope run` keeps it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dynascope.facts.generated import recorded
from dynascope.facts.reader import Reader
from dynascope.facts.store import FILE_NAME, FOLDER_NAME, FOLDER_VARIABLE

from tests.support.dap.client import DapClient
from tests.support.dap.running import Running
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import line, program

PROGRAM = """\
import torch

@torch.compile(backend="eager")
def f(x):
    y = x + 1                  # line 5
    torch._dynamo.graph_break()
    return y * 2

print(f(torch.ones(3)))
"""
SERVING = program("serving.py")
IN_THE_PROGRAMS_FOLDER = {FOLDER_VARIABLE: ""}


def debug(client: DapClient, folder: Path, **configuration: Any) -> None:
    """To its end, with a stop."""
    file = folder / "program.py"
    file.write_text(PROGRAM)
    started = {"program": str(file), "cwd": str(folder), "console": "internalConsole"}
    client.launch(started | configuration, {file: [5]})
    stop = client.wait_for_stop()
    assert stop.at_compile_time and stop.where() == ("f [0/0]", 5)
    stop.resume()
    assert client.wait_for_end() == 0


@WITH_AND_WITHOUT_DEBUGPY
def test_a_session_records(spawn: Callable[..., DapClient], tmp_path: Path, runtime: bool) -> None:
    debug(spawn(environment=IN_THE_PROGRAMS_FOLDER), tmp_path, runtime=runtime)
    folder = tmp_path / FOLDER_NAME
    assert (folder / ".gitignore").read_text() == "*\n"
    with Reader.open(folder / FILE_NAME) as reader:
        assert len(reader.compiles()) == 2
        assert [run.ended is not None for run in reader.runs()] == [True]  # a full run: it replaces earlier ones


@WITH_AND_WITHOUT_DEBUGPY
def test_a_program_without_a_debugger_records(spawn: Callable[..., DapClient], tmp_path: Path, runtime: bool) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    started = {"program": "program.py", "cwd": str(tmp_path), "console": "internalConsole", "noDebug": True}
    for record in (False, "facts"):
        client = spawn(environment=IN_THE_PROGRAMS_FOLDER)
        client.initialize()
        client.request("launch", started | {"runtime": runtime, "record": record})
        assert client.wait_for_end() == 0
        assert (tmp_path / FOLDER_NAME).exists() == bool(record)
    with Reader.open(tmp_path / FOLDER_NAME / FILE_NAME) as reader:
        assert [recorded.kinds(reader, each.id) for each in reader.compiles()] == [set(), set()]


def test_a_session_records_no_graphs_where_it_is_told_so(spawn: Callable[..., DapClient], tmp_path: Path) -> None:
    def kinds(folder: Path, **configuration: Any) -> list[set[str]]:
        folder.mkdir()
        debug(spawn(environment=IN_THE_PROGRAMS_FOLDER), folder, runtime=False, **configuration)
        with Reader.open(folder / FOLDER_NAME / FILE_NAME) as reader:
            return [recorded.kinds(reader, each.id) for each in reader.compiles()]

    assert kinds(tmp_path / "all") == [{"graphs", "bytecode"}] * 2
    assert kinds(tmp_path / "facts", record="facts") == [set()] * 2
    assert kinds(tmp_path / "guards", record="guards") == [{"graphs", "bytecode", "guards"}] * 2


def test_what_is_traced_again_is_recorded_once(spawn: Callable[..., DapClient], tmp_path: Path) -> None:
    def facts(folder: Path, *commands: str) -> Any:
        folder.mkdir()
        client, file = spawn(environment=IN_THE_PROGRAMS_FOLDER), folder / "program.py"
        file.write_text(PROGRAM)
        started = {"program": str(file), "cwd": str(folder), "console": "internalConsole", "runtime": False}
        client.launch(started, {file: [6]})
        stop = client.wait_for_stop()
        for command in commands:
            stop = stop.step(command)
        stop.resume()
        client.wait_for_end()
        with Reader.open(folder / FOLDER_NAME / FILE_NAME) as reader:
            compiles = [(each.compile_id, each.attempts, each.nodes, each.status) for each in reader.compiles()]
            lines = [(each.line, each.visits) for each in reader.facts("line_times", str(reader.newest_launch()))]
            return compiles, sorted(lines), len(reader.facts("graph_breaks", str(reader.newest_launch())))

    plain = facts(tmp_path / "plain")
    assert facts(tmp_path / "back", "stepBack", "next", "reverseContinue", "next") == plain


def test_a_session_that_is_told_not_to_does_not_record(spawn: Callable[..., DapClient], tmp_path: Path) -> None:
    debug(spawn(environment=IN_THE_PROGRAMS_FOLDER), tmp_path, record=False)
    assert not (tmp_path / FOLDER_NAME).exists()


@WITH_AND_WITHOUT_DEBUGPY
def test_where_nothing_can_be_written_the_session_goes_on(
    spawn: Callable[..., DapClient], tmp_path: Path, runtime: bool
) -> None:
    (tmp_path / FOLDER_NAME).write_text("in the way")
    client = spawn(environment=IN_THE_PROGRAMS_FOLDER)
    debug(client, tmp_path, runtime=runtime)
    assert client.output("console").count("recording has stopped: ") == 1
    assert "dynascope" not in client.output("stderr")


@WITH_AND_WITHOUT_DEBUGPY
def test_an_attached_program_is_recorded_until_it_is_detached(
    spawn: Callable[..., DapClient], tmp_path: Path, runtime: bool
) -> None:
    running = Running(SERVING, environment={FOLDER_VARIABLE: str(tmp_path)})
    try:
        stops = []
        for _ in range(2):
            running.assert_runs_on()  # torch._dynamo was imported long ago
            client = spawn()
            client.attach({"connect": running.connect, "runtime": runtime}, {SERVING: [line(SERVING, "traced")]})
            stop = client.wait_for_stop()
            for _ in range(3):  # the first compile may have begun before it was recorded
                stop = stop.step("continue")
            stops.append(time.time())
            client.request("disconnect")
        running.assert_runs_on()
        assert running.end() == 0
    finally:
        running.process.kill()
        running.process.wait()
    with Reader.open(tmp_path / FILE_NAME) as reader:
        began = [compile.began for compile in reader.compiles()]
    assert min(began) < stops[0] < max(began) < stops[1]
