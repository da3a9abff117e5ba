"""Breakpoints in backends of the program's own, which run while Dynamo compiles."""

from __future__ import annotations

from tests.support.dap.client import DapClient, Stop
from tests.support.marks import line, program

PROGRAM = program("backends.py")
LAUNCH = {"program": str(PROGRAM), "console": "internalConsole", "subProcess": False}
LINES = [line(PROGRAM, mark) for mark in ("pass", "compiler", "object", "model")]


def places(client: DapClient) -> list[tuple[bool, str]]:
    """Where the program stops, whether at compile time, until it ends."""
    seen = []
    while (event := client.wait_for_event("stopped", "terminated"))["event"] == "stopped":
        stop = Stop(client, event["body"])
        seen.append((stop.at_compile_time, stop.where()[0]))
        stop.resume()
    return seen


def test_a_backend_of_the_programs_own_stops_amid_the_compile(client: DapClient) -> None:
    client.launch(LAUNCH, {PROGRAM: LINES})
    traced, function = (True, "model [0/0]"), [(False, "passes"), (False, "compiler")]
    assert places(client) == [traced, *function, traced, *function, traced, (False, "__call__")]


def test_steps_in_a_backend_are_those_of_the_running_program(client: DapClient) -> None:
    client.launch(LAUNCH, {PROGRAM: [line(PROGRAM, "pass")]})
    stop = client.wait_for_stop()
    assert stop.evaluate("len(module.graph.nodes) > 2").result == "True"
    stop = stop.step("stepOut")
    assert (stop.at_compile_time, stop.where()[0]) == (False, "compiler")
    stop.step("next").resume()
