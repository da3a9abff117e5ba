"""Steps across inlined calls, generators, restarts and graph breaks, as a user of debugpy expects them."""

from __future__ import annotations

import pytest
from dynascope.wire.messages import ResumeCommand

from tests.support.agent.scripted_session import ScriptedSession
from tests.support.marks import PROGRAMS, labels, load

pytestmark = pytest.mark.second_leg

PATH = PROGRAMS / "traced" / "steps.py"
LABELS = labels(PATH)


def walk(start: str, commands: list[ResumeCommand], main: str = "main") -> list[str]:
    """Labels of the lines at which the steps ended, the first of which began at the first stop at `start`."""
    session = ScriptedSession(commands)
    session.break_at(PATH, LABELS[start])
    program = load(PROGRAMS / "traced" / "steps.py")
    with session.attached():
        getattr(program, main)()
    named = {line: label for label, line in LABELS.items()}
    return [named[stop.frames[0].line] for stop in session.stops[1 : len(commands) + 1]]


def test_next_passes_over_calls_and_graph_breaks() -> None:
    assert walk("first", ["next"] * 9) == [
        *["call", "after_call", "loop", "loop_body", "loop", "loop_body", "loop"],
        *["graph_break", "after_break"],
    ]


@pytest.mark.second_leg_only
def test_next_passes_over_a_callee_that_is_compiled_apart() -> None:
    assert walk("after_break", ["next"] * 3) == ["breaking_call", "last"]


def test_step_into_a_call_and_out_at_its_end() -> None:
    commands: list[ResumeCommand] = ["stepIn", "next", "next", "next"]
    assert walk("call", commands) == ["helper_first", "helper_last", "call", "after_call"]


def test_step_out_of_a_call() -> None:
    assert walk("helper_first", ["stepOut", "next"]) == ["call", "after_call"]


def test_step_through_a_generator_and_its_consumer() -> None:
    commands: list[ResumeCommand] = ["stepIn", "next", "next", "next", "next", "stepIn", "next"]
    assert walk("loop", commands) == [
        *["pieces_for", "pieces_yield", "loop", "loop_body", "loop"],
        *["pieces_for", "pieces_yield"],
    ]


def test_next_in_a_callee_that_breaks_goes_on_in_its_continuation() -> None:
    assert walk("breaks_print", ["next", "next"]) == ["breaks_print", "breaks_last"]


def test_step_into_goes_on_in_whatever_is_compiled_next() -> None:
    assert walk("graph_break", ["stepIn", "next", "stepIn"]) == ["after_break", "breaking_call", "breaks_first"]


@pytest.mark.parametrize("command", ["next", "stepOut"])
def test_a_step_out_of_the_program_runs_on_until_the_next_compile(command: ResumeCommand) -> None:
    assert walk("last", [command], "main_of_two") == ["other"]


def test_comptime_breakpoint_stops_at_the_users_line() -> None:
    session = ScriptedSession(["next"])
    program = load(PROGRAMS / "traced" / "steps.py")
    with session.attached():
        program.main_stopping()
    assert [stop.frames[0].line for stop in session.stops] == [LABELS["comptime"], LABELS["after_comptime"]]
    assert session.stops[0].frames[0].name == "stopping [0/0]"
    assert session.stops[0].locals == {"x": "f32[2]", "y": "f32[2]"}
