"""Steps across the border between compile time and run time, in both directions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.dap.client import DapClient, Stop
from tests.support.marks import line, program

pytestmark = pytest.mark.second_leg

CROSSING = program("crossing.py")


def launch(client: DapClient, function: str, *marks: str) -> Stop:
    configuration: dict[str, Any] = {"program": str(CROSSING), "args": [function], "subProcess": False}
    configuration |= {"console": "internalConsole", "redirectOutput": True}
    client.launch(configuration, {CROSSING: [line(CROSSING, mark) for mark in marks]})
    return client.wait_for_stop()


def place(stop: Stop) -> str:
    """`c` or `r` (compile time, run time) and the mark of the line."""
    frame = stop.frames(0, 1)[0]
    text = CROSSING.read_text().splitlines()[frame.line - 1]
    return f"{'c' if stop.at_compile_time else 'r'}: {text.rpartition('#: ')[2].replace('_', ' ')}"


def steps(stop: Stop, times: int, command: str = "next") -> list[str]:
    places = []
    for _ in range(times):
        stop = stop.step(command)
        places.append(place(stop))
    return places


@pytest.mark.parametrize(("function", "mark"), [("breaks", "the_break"), ("breaks_twice", "both_breaks")])
def test_a_pass_over_a_graph_break_stops_there_once_at_run_time(client: DapClient, function: str, mark: str) -> None:
    stop = launch(client, function, mark, "ran")
    places = [place(stop)]
    while places[-1] != "r: ran":
        stop.resume()
        stop = client.wait_for_stop()
        places.append(place(stop))
    there = mark.replace("_", " ")
    assert places == [f"c: {there}", f"r: {there}", "r: ran"]


@pytest.mark.second_leg_only
def test_next_at_a_graph_break_that_runs_goes_on_in_the_compile_behind_it(client: DapClient) -> None:
    stop = launch(client, "whole", "the_break")
    while place(stop) != "r: the break":
        stop.resume()
        stop = client.wait_for_stop()
    assert steps(stop, 4) == ["c: behind the break", "c: breaks returns", "c: nested returns", "c: guards"]


@pytest.mark.second_leg_only
@pytest.mark.parametrize("mark", ["breaks_in_a_try", "breaks_returns"])
def test_next_goes_on_where_dynamo_gives_up_on_the_function(client: DapClient, mark: str) -> None:
    stop = launch(client, "guarded", mark)
    assert place(stop) == f"c: {mark.replace('_', ' ')}"
    stop = stop.step("next")
    if place(stop) == "r: breaks in a try":  # its own breakpoint
        stop = stop.step("next")
    assert place(stop) == "r: behind the trys break"
    assert steps(stop, 4) == ["r: finally", "r: guarded returns", "r: runs", "r: ran"]


@pytest.mark.second_leg_only
def test_next_in_a_loop_with_a_graph_break_visits_each_line_that_runs(client: DapClient) -> None:
    stop = launch(client, "loops", "in_the_loop")
    assert place(stop) == "c: in the loop"
    once = ["r: in the loop", "r: break in the loop", "r: behind the loops break", "r: loop"]
    assert steps(stop, 12) == ["c: break in the loop", *once, *once, "r: loops returns", "r: runs", "r: ran"]


@pytest.mark.second_leg_only
def test_next_from_the_first_line_never_loses_the_program(client: DapClient) -> None:
    stop = launch(client, "whole", "first")
    compiled = ["c: guards", "c: calls the loop", "c: calls what is skipped", "c: last"]
    assert steps(stop, 6) == ["r: first", *compiled, "r: ran"]  # at its own breakpoint, in generated code, and on
