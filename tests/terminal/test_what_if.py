"""Try a change at the prompt, with a real program."""

from __future__ import annotations

from pathlib import Path

from tests.support.marks import line, program
from tests.support.terminal.debugging import debug, folder

__all__ = ["folder"]


def test_a_change_is_tried_kept_and_undone(folder: Path) -> None:
    commands = "what\nwhat if graph break\nwhat if keep\nwhat if undo\nwhat if x dynamic\ncontinue\n"
    code, out = debug("-b", "program.py:15", "program.py", commands=commands)
    assert code == 12  # the sum of what the program calculates
    assert "what if x.shape[0] dynamic   " in out
    assert "Graphs: 1 graph with 2 operations; without the change: 1 graph with 3 operations." in out
    assert "with the change: graph break (outer, program.py:15)." in out and "No longer kept: graph break (" in out
    assert "(x.size()[0]) in [2, oo]" in out


def test_the_help_says_what_it_does(folder: Path) -> None:
    _, out = debug("program.py", commands="help what\nquit\n")
    assert "what if x.shape[0] dynamic" in out and "compiles without it" in out.replace("\n", " ")


def test_at_a_recorded_line_it_is_said_how_to_go_forward(folder: Path) -> None:
    looked_back = program("looked_back.py")
    commands = "continue\ncontinue\nrcontinue\nback\nwhat if\nwhat if undo\nwhat if n = 5\nquit\n"
    _, out = debug("-b", f"{looked_back}:{line(looked_back, 'last')}", str(looked_back), commands=commands)
    out = " ".join(out.split())
    assert out.count("Nothing can be tried here: this line is past.") == 3
    assert out.count("with Continue (`continue` at the prompt).") == 3
