"""The lines that begin while Dynamo traces a function are those that begin when Python runs it."""

from __future__ import annotations

import sys
import types
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.support.agent.recording import recording
from tests.support.agent.scripted_session import ScriptedSession
from tests.support.marks import PROGRAMS, load

pytestmark = pytest.mark.second_leg

PATH = PROGRAMS / "traced" / "control_flow.py"
MODULE = load(PATH)
FUNCTIONS = [name for name, each in vars(MODULE).items() if isinstance(each, types.FunctionType)]


def arguments(function: Callable[..., Any]) -> list[Any]:
    return [torch.ones(2), *([[]] if "found" in function.__code__.co_varnames[:2] else [])]


def lines_in_python(function: Callable[..., Any]) -> list[int]:
    lines: list[int] = []

    def trace(frame: types.FrameType, event: str, _: object) -> Any:
        if frame.f_code is not function.__code__:
            return None
        if event == "line":
            lines.append(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(*arguments(function))
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_line_that_begins_ends_a_step(name: str) -> None:
    torch._dynamo.reset()
    function = getattr(MODULE, name)
    lines = lines_in_python(function)
    session = ScriptedSession(["next"] * len(lines))
    session.break_at(PATH, lines[0])
    with session.attached():
        torch.compile(function, backend="eager")(*arguments(function))
    assert [stop.frames[0].line for stop in session.stops] == lines


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_recorded_line_has_as_many_visits(name: str) -> None:
    torch._dynamo.reset()
    function = getattr(MODULE, name)
    with recording() as facts:
        torch.compile(function, backend="eager")(*arguments(function))
    (compiled,) = facts
    lines = {each.line: each.visits for each in compiled.line_times if each.line != function.__code__.co_firstlineno}
    assert lines == Counter(lines_in_python(function))
