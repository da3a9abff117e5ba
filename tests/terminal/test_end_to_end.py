"""`dynascope debug` with a real program under the real adapter."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.terminal.terminal import Terminal

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120
PROGRAM = """\
import os
import sys

import torch


def inner(x):
    y = x + 1
    return y * 2


@torch.compile(backend="eager")
def outer(x):
    z = inner(x)
    return z.sum()


if __name__ == "__main__":
    with open("pid", "w") as stream:
        stream.write(str(os.getpid()))
    result = outer(torch.ones(3))
    print("arguments", sys.argv[1:])
    if "ask" in sys.argv:
        print("answer", input("question? "))
    sys.exit(int(result))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "adapter"), str(ROOT / "lsp")]))
    return tmp_path


def debug(*options: str, commands: str | None = None) -> tuple[int, str]:
    """Exit code and output of `dynascope debug` with that on its standard input."""
    run = subprocess.run(
        [sys.executable, "-m", "dynascope", "debug", *options],
        input=commands or "",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE,
    )
    return run.returncode, run.stdout


COMMANDS = """\
where
locals
step
where
locals
out
graph
tbreak program.py:22
continue
print result
"""


def test_stops_while_dynamo_traces_and_while_the_program_runs(folder: Path):
    code, out = debug("-b", "program.py:outer", "--commands", "-", "program.py", "a", "--b", commands=COMMANDS)
    assert code == 12, out
    assert "● compile time  outer [0/0]  program.py:14  (breakpoint 1)" in out
    stack = out.partition("(dynascope) where")[2]
    assert stack.index("outer [0/0]") < stack.index("── the running program ──") < stack.index("<module>")
    assert "x  f32[3]" in out
    assert "● compile time  inner [0/0]  program.py:8  (step)" in out
    assert "add" in out.partition("(dynascope) graph")[2]
    assert "● run time  <module>  program.py:22  (breakpoint 2)" in out
    assert "tensor(12.)" in out
    assert "arguments ['a', '--b']" in out
    assert out.index("print result") < out.index("arguments ['a'")
    assert "program.py ended with exit code 12" in out


WATCHES = """\
watch z
awatch L['x']
rwatch x + 1
break operator.mul
breakpoints
run
watch q
rwatch y
clear L['x']
continue
continue
"""


def test_watches_and_operators(folder: Path):
    code, out = debug("--no-runtime", "--commands", "-", "program.py", commands=WATCHES)
    assert code == 12, out
    listed = out.partition("(dynascope) breakpoints")[2]
    assert "watch 1 on z (pending)" in listed and "awatch 2 on L['x'] (pending)" in listed
    assert "breakpoint 4 at operator.mul (pending)" in listed
    assert "● compile time  inner [0/0]  program.py:8  (breakpoint 2)" in out
    assert "  guard TENSOR_MATCH on L['x'] installed (program.py:8)" in out
    assert "There is no q in inner, or in what called it." in out
    assert "rwatch 6 on y (verified)" in out
    assert "breakpoint 2 cleared: L['x']" in out
    stops = out.partition("cleared: L['x']")[2]
    assert "● compile time  inner [0/0]  program.py:9  (breakpoint 4)" in stops
    assert "  %mul = call_function[target=operator.mul](args = (%y, 2)) enters the graph" in stops
    assert "  y is an input of %mul" in stops


def test_compile_time_alone(folder: Path):
    options = ("--no-runtime", "--command", "where", "--command", "next", "--command", "locals")
    code, out = debug("-b", "program.py:8", *options, "program.py")
    assert code == 12, out
    assert "● compile time  inner [0/0]  program.py:8  (breakpoint 1)" in out
    assert "y  f32[3]" in out.partition("(dynascope) locals")[2]
    assert "● run time" not in out


def test_a_module(folder: Path):
    options = ("-b", "program.py:8", "--command", "where")
    code, out = debug(*options, "-m", "program", "a", "-c", "config", "--command", "-b")
    assert code == 12, out
    assert "● compile time  inner [0/0]  program.py:8" in out
    assert "arguments ['a', '-c', 'config', '--command', '-b']" in out


def test_an_uncaught_exception_stops_the_running_program(folder: Path):
    (folder / "fails.py").write_text("raise ValueError('no')\n")
    code, out = debug("--command", "run", "--command", "print 1 + 1", "fails.py")
    assert code == 1, out
    assert "● run time  <module>  fails.py:1  (exception)" in out
    assert "  ValueError: no" in out


def test_code(folder: Path):
    code, out = debug("-c", "import sys; sys.exit(5)")
    assert code == 5, out


def test_without_a_program_or_without_its_file(folder: Path):
    assert "which program?" in debug()[1]
    assert "No such option" in debug("--brake", "program.py")[1]
    code, out = debug("missing.py")
    assert code == 2
    assert "cannot read missing.py: No such file" in out


def test_quit_at_a_stop_leaves_no_process(folder: Path):
    code, out = debug("-b", "program.py:8", "--command", "run", "--command", "quit", "program.py")
    assert code == 0, out
    assert not psutil.pid_exists(int((folder / "pid").read_text()))


def interactive(*options: str, folder: Path) -> Terminal:
    return Terminal([sys.executable, "-m", "dynascope", "debug", *options], {}, folder)


def test_the_program_reads_the_keyboard_while_it_runs(folder: Path):
    terminal = interactive("-b", "program.py:8", "program.py", "ask", folder=folder)
    try:
        terminal.expect("● compile time  inner [0/0]")
        terminal.expect("(dynascope) ")
        terminal.type("continue\r")
        terminal.expect("question? ")
        terminal.type("forty-two\n")
        terminal.expect("answer forty-two")
        terminal.expect("ended with exit code 12")
        terminal.type("quit\r")
        assert terminal.wait() == 12
    finally:
        terminal.close()


def test_a_closed_window_at_a_stop_ends_the_program(folder: Path):
    terminal = interactive("-b", "program.py:8", "program.py", folder=folder)
    terminal.expect("● compile time  inner [0/0]")
    terminal.expect("(dynascope) ")
    terminal.close()
    pid = int((folder / "pid").read_text())
    end = time.monotonic() + 10
    while psutil.pid_exists(pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert not psutil.pid_exists(pid)


def test_the_demo_shows_the_main_job(folder: Path):
    run = subprocess.run(
        [sys.executable, ROOT / "demo/run.py"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE,
    )
    assert run.returncode == 0, run.stdout


BREAKING = """\
import torch


@torch.compile(backend="eager")
def f(x):
    y = x + 1
    torch._dynamo.graph_break()
    return y * 2


f(torch.ones(3))
f(torch.ones(2, 3))
"""


def test_stops_at_graph_breaks_and_explains_them(folder: Path) -> None:
    (folder / "breaking.py").write_text(BREAKING)
    code, output = debug("--catch", "graphBreak GB0025, my code", "--command", "locals", "breaking.py")
    assert code == 0
    assert "● compile time  f [0/0]  breaking.py:7" in output
    assert "GB0025: Call to `torch._dynamo.graph_break()`" in output
    assert "Hint: Remove the" in output and "https://" in output
    assert "y  f32[3]" in output
    assert output.count("● compile time") == 1  # to its end the program goes on through every stop


def test_catch_switches_filters_and_lists_them(folder: Path) -> None:
    (folder / "breaking.py").write_text(BREAKING)
    lines = (
        "catch recompile 'rank mismatch'",
        "continue",
        "catch",
        "catch recompile our code",
        "catch nonsense",
        "catch none",
        "continue",
    )
    commands = "\n".join(lines)
    code, output = debug("breaking.py", commands=commands)
    assert code == 0
    assert "recompile: f [0/1] is compiled again." in output
    assert "on  recompile" in output and "['rank mismatch']" in output and "off graphBreak" in output
    assert "recompile: 'our code' is neither a term" in output
    assert "there is no filter `nonsense`; there are: raised," in output
    assert output.count("● compile time") == 1
