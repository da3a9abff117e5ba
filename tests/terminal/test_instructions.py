"""Bytecode, instruction breakpoints, modes and step targets at the prompt, with a real program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from dynascope.terminal import locations

from tests.support.terminal.debugging import debug, folder

__all__ = ["folder"]


def test_the_bytecode_is_listed_stepped_and_stopped_at(folder: Path) -> None:
    code, out = debug("-b", "program.py:14", "program.py", commands="dis\nnexti\nstepi 3\ndis all\nstep inner\nquit\n")
    assert code == 0
    listed = re.findall(r"^(->|  )[B ] {1,5}\d*  (0x[0-9a-f]{12})  (\w+)", out, re.MULTILINE)
    assert len({address for _, address, _ in listed}) > 10
    assert sum(mark == "->" for mark, _, _ in listed) >= 3
    assert "inner [0/0]  program.py:8" in out


def test_a_breakpoint_at_an_address(folder: Path) -> None:
    _, out = debug("-b", "program.py:14", "program.py", commands="dis all\nquit\n")
    last = [line for line in out.splitlines() if "RETURN_VALUE" in line][-1]
    address = re.search(r"0x[0-9a-f]{12}", last)
    assert address is not None
    commands = f"break *{address[0]}\ncontinue\ncontinue\ndis 1\nquit\n"
    _, out = debug("-b", "program.py:14", "program.py", commands=commands)
    assert f"breakpoint 2 at *{address[0]} (pending)" in out
    assert "outer [0/0]  program.py:15  (breakpoint 2)" in out


def test_a_breakpoint_with_mode_run(folder: Path) -> None:
    _, out = debug("-b", "--mode run program.py:8", "program.py", commands="where\nlocals\ncontinue\n")
    assert "● run time  inner  program.py:8  (breakpoint 1)" in out
    assert "(mode run)" in out


def test_modes_and_addresses_are_checked() -> None:
    with pytest.raises(locations.BadLocation, match="there is no mode `fast`"):
        locations.parse("--mode fast f", None)
    with pytest.raises(locations.BadLocation, match="is for lines"):
        locations.parse("--mode run f", None)
    with pytest.raises(locations.BadLocation, match="not an address"):
        locations.parse("*12", None)
    assert str(locations.parse("*0x12, x > 3", None)[0]) == "*0x12"


@pytest.mark.parametrize("pattern", ["*Attention*.forward", "*.forward", "*Model*", "*"])
def test_a_pattern_may_begin_with_a_star(pattern: str) -> None:
    location, condition = locations.parse(f"{pattern}, x > 3", None)
    assert (location.function, location.address, location.group, condition) == (pattern, "", "functions", "x > 3")


def test_a_breakpoint_on_a_pattern_that_begins_with_a_star(folder: Path) -> None:
    _, out = debug("program.py", commands="break *nn*\nrun\nbreakpoints\nquit\n")
    assert "inner [0/0]  program.py:8  (breakpoint 1)" in out
    assert "breakpoint 1 at *nn* (verified)" in out
    assert re.search(r"->B *8 ", out)
