"""`dynascope debug` on a terminal: keys, completion, history, Ctrl-C; against an adapter that plays a script."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.terminal import fake_adapter
from tests.support.terminal.terminal import Terminal

PROMPT = "(dynascope) "
START = """
import sys
from dynascope.terminal import debuggee
debuggee.ADAPTER = (sys.executable, {fake!r}, {scenario!r})
from dynascope.terminal.command import debug
debug()
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    (tmp_path / "program.py").write_text("one = 1\ntwo = 2\nthree = 3\n")
    started: list[Terminal] = []

    def run(*options: str, scenario: str = "plain") -> Terminal:
        code = START.format(fake=str(fake_adapter.__file__), scenario=scenario)
        environment = {"XDG_STATE_HOME": str(tmp_path / "state")}
        started.append(Terminal([sys.executable, "-c", code, *options, "program.py"], environment, tmp_path))
        return started[-1]

    yield run
    for terminal in started:
        terminal.close()


def test_without_breakpoints_it_waits_for_them(start):
    terminal = start()
    assert "program.py is ready" in terminal.expect(PROMPT)
    terminal.type("b 2\r")
    terminal.expect("breakpoint 1 at program.py:2 (pending)")
    terminal.type("run\r")
    terminal.expect("● compile time  f [0/0]  program.py:2  (breakpoint 1)")
    terminal.type("q\r")
    assert terminal.wait() == 0


def test_an_empty_line_steps_again(start):
    terminal = start("-b", "program.py:2")
    terminal.expect("(breakpoint 1)")
    terminal.expect(PROMPT)
    terminal.type("n\r")
    terminal.expect("program.py:3")
    terminal.expect(PROMPT)
    terminal.type("\r")
    terminal.expect("program.py ended with exit code 3")
    terminal.type("q\r")
    assert terminal.wait() == 3


def test_tab_completes_commands_files_and_locals(start):
    terminal = start("-b", "program.py:2")
    terminal.expect(PROMPT)
    terminal.type("breakp\t")
    terminal.expect("breakpoints")
    terminal.type("\r")
    terminal.expect("(verified)")
    terminal.expect(PROMPT)
    terminal.type("b prog\t")
    terminal.expect("program.py")
    terminal.type(":3\r")
    terminal.expect("breakpoint 2 at program.py:3")
    terminal.expect(PROMPT)
    terminal.type("expand \t")
    terminal.expect("x")
    terminal.type("\r")
    terminal.expect("[99]")


def test_control_c_pauses_a_running_program(start):
    terminal = start("-b", "program.py:2", scenario="runs")
    terminal.expect(PROMPT)
    terminal.type("continue\r")
    terminal.expect("working")
    terminal.leave_keys_to_the_terminal()  # which turns the key into a signal
    terminal.type("\x03")
    terminal.expect("(pause)")
    terminal.expect(PROMPT)
    terminal.type("\x04")
    assert terminal.wait() == 0


def test_what_stays_stopped_is_shown_when_the_thread_that_goes_on_alone_does_not_stop(start):
    terminal = start("-b", "program.py:2", scenario="alone")
    terminal.expect(PROMPT)
    terminal.type("alone continue\r")
    terminal.expect("waiting for this thread alone: Ctrl-C stops it")
    terminal.leave_keys_to_the_terminal()
    terminal.type("\x03")
    terminal.expect("in a lock")
    terminal.type("\x03")
    terminal.expect("● run time  <module>  program.py:1  (stopped with the others)")
    terminal.expect(PROMPT)
    terminal.type("continue\r")
    terminal.expect("program.py:3")
    terminal.expect(PROMPT)


def test_what_stays_stopped_is_shown_when_the_thread_that_went_on_alone_has_ended(start):
    terminal = start("-b", "program.py:2", scenario="alone exits")
    terminal.expect(PROMPT)
    terminal.type("alone continue\r")
    terminal.expect("● run time  <module>  program.py:1  (stopped with the others)")
    terminal.expect(PROMPT)
    terminal.type("continue\r")
    terminal.expect("program.py:3")
    terminal.expect(PROMPT)


def test_history_is_kept_for_the_user_alone(start, tmp_path: Path):
    terminal = start()
    terminal.expect(PROMPT)
    terminal.type("help\r")
    terminal.expect("An empty line repeats a step.")
    terminal.expect(PROMPT)
    terminal.type("\x04")
    assert terminal.wait() == 0
    history = tmp_path / "state" / "dynascope" / "history"
    assert "help" in history.read_text()
    assert history.stat().st_mode & 0o077 == 0
