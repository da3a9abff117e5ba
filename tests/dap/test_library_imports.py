"""Breakpoints in what is imported, though libraries are imported without pydevd's tracing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.dap.client import DapClient, adapter_environment
from tests.support.dap.launches import launch

pytestmark = pytest.mark.second_leg

PROGRAM = """\
import sys
sys.path.insert(0, sys.argv[1])
import library
assert library.second.doubled == 4
try:
    import library.broken
except ZeroDivisionError:
    import traceback
    print(traceback.format_exc())
print("TRACED", library.traced)
end = True
"""
PLUGIN = """\
name = "plugin"
def register(value):
    return value + 1
"""
FILES = {
    # torch's import imports `dynascope.autoload`, which in a checkout is in no folder of packages
    "library/__init__.py": "import sys, dynascope.autoload\ntraced = sys.gettrace() is not None\n"
    "import library.first, library.second\n",
    "library/first.py": "def double(value):\n    return value * 2\n\nimport plugin\nplugin.register(1)\n",
    "library/second.py": "from library.first import double\ndoubled = double(2)\n",
    "another.py": "import torch\n@torch._dynamo.decorators.skip\ndef half(value):\n    return value / 2\n",
    "library/broken.py": "import library.divides\n",
    "library/divides.py": "1 / 0\n",
}

COMPILES = """\
import sys
sys.path.insert(0, sys.argv[1])
import torch._dynamo.decorators
import another

@torch.compile(backend="eager")
def compiled(x):
    return another.half(x + 1)

compiled(torch.ones(2))
print(dict(torch._dynamo.utils.counters["frames"]))
end = True
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    for name, text in {**FILES, "../program.py": PROGRAM, "../plugin.py": PLUGIN}.items():
        path = tmp_path / "site-packages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "program.py"


def start(client: DapClient, program: Path, *places: tuple[str, int], **more: Any) -> None:
    breakpoints: dict[Path, list[int]] = {}
    for name, line in places:
        breakpoints.setdefault(program.parent / name, []).append(line)
    client.launch(launch(program, args=[str(program.parent / "site-packages")], **more), breakpoints)


def plain_output(program: Path) -> str:
    """What the program writes without a debugger."""
    arguments = [str(program), str(program.parent / "site-packages")]
    environment = adapter_environment()
    return subprocess.run(
        [sys.executable, *arguments], env=environment, text=True, capture_output=True, check=True
    ).stdout


def place(client: DapClient) -> tuple[str, int]:
    frame = client.wait_for_stop().frames()[0]
    return Path(frame.source.path or "").name, frame.line


def test_a_breakpoint_is_hit_in_everything_that_is_imported(client: DapClient, program: Path):
    first, second = "site-packages/library/first.py", "site-packages/library/second.py"
    start(client, program, ("plugin.py", 1), ("plugin.py", 3), (first, 2), (second, 2), ("program.py", 11))
    for expected in [("plugin.py", 1), ("plugin.py", 3), ("second.py", 2), ("first.py", 2), ("program.py", 11)]:
        assert place(client) == expected
        client.request("continue", {"threadId": client.threads()[0].id})


@pytest.mark.parametrize(("step", "file"), [("next", "program.py"), ("stepIn", "__init__.py")])
def test_a_step_goes_over_or_into_an_import(client: DapClient, program: Path, step: str, file: str):
    start(client, program, ("program.py", 3), justMyCode=False)
    frame = client.wait_for_stop().step(step).frames()[0]
    assert Path(frame.source.path or "").name == file


def test_a_library_is_imported_without_tracing_and_its_errors_look_the_same(client: DapClient, program: Path):
    start(client, program, ("program.py", 11))
    client.wait_for_stop()
    plain = plain_output(program)
    assert client.wait_for_output(plain, "stdout") == plain
    assert "TRACED False" in plain and 'divides.py", line 1' in plain


def test_a_raised_exception_stops_in_an_imported_library(client: DapClient, program: Path):
    arguments = [str(program.parent / "site-packages")]
    client.launch(launch(program, args=arguments, justMyCode=False), exceptions=["raised"])
    assert place(client) == ("divides.py", 1)


@pytest.mark.matrix
@pytest.mark.real_processes
def test_dynamo_does_not_see_what_pydevd_calls_at_the_first_call_into_an_imported_file(
    client: DapClient, program: Path
):
    program.write_text(COMPILES)
    start(client, program, ("program.py", 12))
    client.wait_for_stop()
    plain = plain_output(program)
    assert client.wait_for_output(plain, "stdout") == plain
