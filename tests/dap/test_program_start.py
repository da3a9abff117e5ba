"""What a launched program sees of its start: what it would see under `python`, and few frames below it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.dap.client import DapClient, adapter_environment

pytestmark = pytest.mark.second_leg

PROGRAM = """
import json, sys, traceback
stack = traceback.extract_stack()
print("SEEN " + json.dumps({
    "name": __name__, "file": globals().get("__file__"), "argv": sys.argv, "folder": sys.path[0],
    "main": sys.modules["__main__"].__dict__ is globals(), "package": __package__,
}))
print("FRAMES", len(stack))
if "fail" in sys.argv:
    raise ValueError("on purpose")
"""
OUR_FRAMES = 2
"""The script that starts debugpy, and its function that runs the program."""


def seen(output: str) -> tuple[dict[str, Any], int]:
    rows = dict(line.split(" ", 1) for line in output.splitlines() if line.startswith(("SEEN ", "FRAMES ")))
    return json.loads(rows["SEEN"]), int(rows["FRAMES"])


def plain(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env=adapter_environment(), text=True, capture_output=True, timeout=60
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("program.py", "package/__init__.py", "package/__main__.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(PROGRAM if not name.endswith("__init__.py") else "")
    return tmp_path


@pytest.mark.second_leg_only
@pytest.mark.parametrize(
    ("command", "start"),
    [
        pytest.param(["{}/program.py", "a", "b c"], {"program": "{}/program.py", "args": ["a", "b c"]}, id="a file"),
        pytest.param(["-m", "package", "a"], {"module": "package", "args": ["a"]}, id="a module"),
        pytest.param(["{}/package", "a"], {"program": "{}/package", "args": ["a"]}, id="a folder"),
    ],
)
def test_a_program_starts_as_under_python(folder: Path, command: list[str], start: dict[str, Any]):
    expected, frames = seen(plain(folder, *(word.format(folder) for word in command)).stdout)
    if "program" in start:
        start = start | {"program": start["program"].format(folder)}
    with DapClient.spawn() as client:
        client.launch(start | {"cwd": str(folder), "console": "internalConsole"})
        assert client.wait_for_end() == 0
        under_debugger, more_frames = seen(client.output("stdout"))
    assert under_debugger == expected
    assert more_frames == frames + OUR_FRAMES


@pytest.mark.second_leg_only
def test_an_uncaught_exception_shows_the_programs_frames_alone(folder: Path):
    ends = plain(folder, str(folder / "program.py"), "fail")
    with DapClient.spawn() as client:
        client.launch({"program": str(folder / "program.py"), "args": ["fail"], "console": "internalConsole"})
        assert client.wait_for_end() == ends.returncode
        assert client.output("stderr").strip() == ends.stderr.strip()


@pytest.mark.second_leg_only
def test_an_uncaught_exception_stops_in_the_program(folder: Path):
    with DapClient.spawn() as client:
        client.initialize()
        started = client.send(
            "launch", {"program": str(folder / "program.py"), "args": ["fail"], "console": "internalConsole"}
        )
        client.wait_for_event("initialized")
        client.request("setExceptionBreakpoints", {"filters": ["uncaught"]})
        client.request("configurationDone")
        started.body()
        stop = client.wait_for_stop()
        assert stop.where() == ("<module>", 10)
        assert [frame.name for frame in stop.frames()] == ["<module>"]
        stop.resume()
        client.wait_for_end()


@pytest.mark.second_leg_only
def test_garbage_collection_is_as_under_python(client: DapClient, tmp_path: Path):
    (tmp_path / "program.py").write_text("import gc\nprint(gc.isenabled(), gc.get_threshold())\n")
    client.launch({"program": str(tmp_path / "program.py"), "console": "internalConsole", "redirectOutput": True})
    client.wait_for_end()
    assert client.output("stdout") == plain(tmp_path, "program.py").stdout


@pytest.mark.second_leg_only
def test_no_garbage_is_collected_while_the_debuggers_modules_are_imported(client: DapClient, tmp_path: Path):
    (tmp_path / "program.py").write_text("import gc\nprint(sum(each['collections'] for each in gc.get_stats()))\n")
    client.launch({"program": str(tmp_path / "program.py"), "console": "internalConsole", "redirectOutput": True})
    client.wait_for_end()
    assert int(client.output("stdout")) < int(plain(tmp_path, "program.py").stdout) + 40
