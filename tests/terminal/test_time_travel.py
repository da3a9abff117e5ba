"""Back in a compile, at the prompt, with a real program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.marks import line, program
from tests.support.terminal.debugging import debug, folder

__all__ = ["folder"]


def test_back_by_lines_to_breakpoints_and_to_the_first_line_of_a_call(folder: Path) -> None:
    commands = "step\nback\nstep\nnext\nback\nnext\nrframe\nstepi\nbacki\nup\nrframe\nrcontinue\nquit\n"
    code, out = debug("-b", "program.py:14", "program.py", commands=commands)
    assert code == 0
    lines = re.findall(r"● compile time .*  program\.py:(\d+)", out)
    assert lines == ["14", "8", "14", "8", "9", "8", "9", "8", "8", "8", "14"]
    assert "This is the first line that Dynamo traced in this compile" in out


def test_only_compile_time_goes_back(folder: Path) -> None:
    _, out = debug("-b", "--mode run program.py:8", "program.py", commands="back\nrcontinue\nquit\n")
    assert out.count("Only compile time goes back") == 2


def test_the_history_of_a_value_begins_where_it_was_made(folder: Path) -> None:
    commands = "history z\nhistory Graph/y\nprint ctx.history('z')\nhistory nothing\nhistory z #2\nhistory z #1\nquit\n"
    _, out = debug("-b", "program.py:15", "program.py", commands=commands)
    assert re.search(r"\n  program\.py:9 +made f32\[3\]\n", out), out
    assert re.search(r"\n  program\.py:8 +made %l_x_ .*\n  program\.py:8 \(2\) +made %y ", out), out
    assert "['program.py:9 made f32[3]']" in out
    assert "name 'nothing' is not defined" in out
    assert "`history z` has 1 row, and none is #2" in out
    assert re.findall(r"● compile time .*  program\.py:(\d+)", out) == ["15", "9"]


def test_jump_leads_back_to_a_line_also_of_a_function_that_was_left(folder: Path) -> None:
    commands = "jump 8\njump program.py:14\njump 15\njump inner\njump\nquit\n"
    code, out = debug("-b", "program.py:15", "program.py", commands=commands)
    assert code == 0
    assert re.findall(r"● compile time .*  program\.py:(\d+)", out) == ["15", "8", "14"]
    assert "has not begun line 15 of program.py" in out and "`tbreak 15`" in out
    assert "`inner` is not a line" in out and "to where?" in out


def test_the_timeline_lists_events_and_jump_leads_to_them(folder: Path) -> None:
    commands = "timeline\ncontinue\ntimeline 2\njump #2\ngoto #1\njump #9\ncontinue\n"
    _, out = debug("-b", "program.py:8", "-b", "program.py:15", "program.py", commands=commands)
    lines = re.findall(r"● compile time .*  program\.py:(\d+)", out)
    assert lines == ["8", "15", "8", "14"], out
    assert re.search(r"→#1 .* \[0/0\]\s+compile\s+Dynamo begins to compile outer\.  program\.py:12", out)
    assert len(re.findall(r"→#2 .*Stopped: breakpoint\.  program\.py:8", out)) == 2
    assert "there is no event #9; `timeline` lists them" in out


def test_back_beyond_the_compile_its_predecessor_is_shown(folder: Path) -> None:
    looked_back = program("looked_back.py")
    last, scale = line(looked_back, "last"), line(looked_back, "scale")
    shown = "continue\ncontinue\nrcontinue\nback\nlocals\nprint total.shape\nguards\n"
    commands = f"{shown}jump {scale}\nstack\ncontinue\ncontinue\nquit\n"
    code, out = debug("-b", f"{looked_back}:{last}", str(looked_back), commands=commands)
    assert code == 0
    stops = re.findall(r"● compile time  (\w+ \[.*\])  .*:(\d+)", out)
    first, past = str(line(looked_back, "first")), "function [0/0 past]"
    assert stops[2:] == [
        ("function [0/1]", first),
        (past, str(last)),
        ("scale [0/0 past]", str(scale)),
        (past, str(last)),
        ("function [0/1]", first),
    ]
    assert re.search(r"\n  total +f32\[3\]", out) and re.search(r"\n  n +CONSTANT_MATCH at looked_back\.py:", out)
    assert "`total.shape` cannot be known here" in out


AGAIN = """\
import torch

@torch.compile(backend="eager")
def f(x, doubled):
    y = x + 1
    return y * 2 if doubled else y

f(torch.ones(3), False)
f(torch.ones(3), True)
print("done")
"""


def test_two_compiles_are_compared_side_by_side(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DYNASCOPE_FACTS", str(folder / "facts"))
    (folder / "again.py").write_text(AGAIN)
    commands = "compare\ncontinue\ncompare\ncompare 0/0 0/1\ncompare 0/1\ncompare 0/0 9/9\ncompare 1 2 3\nquit\n"
    _, out = debug("--catch", "recompile", "-b", "--mode run again.py:10", "again.py", commands=commands)
    assert "What differs then: `compare` at the prompt" in out
    assert "Nothing differs so far: Dynamo has begun the same 2 lines in both." in out, out
    assert out.count("The guard of 0/0 that failed: doubled == False; met doubled: True") == 4
    assert out.count("First difference, at again.py:3: doubled is False in 0/0, and True in 0/1.") == 3
    assert out.count("▶     3  ") == 3
    assert "No compile 9/9 is recorded." in out and "which two? `compare 0/0 0/1`" in out


def test_changes_tell_what_the_lines_since_have_done(folder: Path) -> None:
    commands = "changes\nchanges line\ncheckpoint here\nnext\nchanges here\n"
    commands += "changes nowhere\ncheckpoint\ncheckpoint a b\nchanges here #1\nquit\n"
    _, out = debug("-b", "program.py:8", "program.py", commands=commands)
    assert "`changes line` tells what this line has done" in out
    assert "since this line began, program.py:8: nothing" in out
    assert re.search(r"since checkpoint here, program\.py:8: .*1 name", out), out
    assert re.search(r"\n  program\.py:8 .* node %y ", out), out
    assert "This compile has no checkpoint `nowhere`" in out and "`checkpoint NAME`" in out and "not `a b`" in out
    assert re.findall(r"● compile time .*  program\.py:(\d+)", out)[-1] == "8"


def test_where_there_is_no_history_the_reason_is_said(folder: Path) -> None:
    _, out = debug("-b", "--mode run program.py:8", "program.py", commands="history x\nchanges\nquit\n")
    assert "`history` is answered while Dynamo compiles" in out and "Traceback" not in out
    assert "`changes` is answered while Dynamo compiles" in out
