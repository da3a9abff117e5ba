"""Stops are on lines that explain themselves: the user's own, those that were chosen, and those of a new compile."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.dap.client import DapClient, Stop
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import line, program

pytestmark = pytest.mark.second_leg

MODULES = program("own_modules.py")


def stopped(client: DapClient, mark: str, runtime: bool = True) -> Stop:
    configuration = {"program": str(MODULES), "console": "internalConsole", "subProcess": False, "runtime": runtime}
    client.launch(configuration, {MODULES: [line(MODULES, mark)]})
    return client.wait_for_stop()


@pytest.mark.second_leg_only
def test_a_chosen_call_of_a_librarys_module_is_entered(client: DapClient) -> None:
    stop = stopped(client, "gate")
    (target,) = client.request("stepInTargets", {"frameId": stop.frames()[0].id})["targets"]
    assert target["label"] == "self.gate(x)"
    client.request("stepIn", {"threadId": stop.thread_id, "targetId": target["id"]})
    stop = client.wait_for_stop()
    frame = stop.frames()[0]
    assert frame.name == "Linear.forward [0/0]" and frame.source is not None and frame.source.path is not None
    assert Path(frame.source.path).name == "linear.py"


@pytest.mark.second_leg_only
def test_a_data_breakpoint_on_an_attribute_stops_on_the_users_line(client: DapClient) -> None:
    stop = stopped(client, "start")
    found = client.request("dataBreakpointInfo", {"name": "self.step", "frameId": stop.frames()[0].id})
    client.request("setDataBreakpoints", {"breakpoints": [{"dataId": found["dataId"], "accessType": "write"}]})
    stop.resume()
    stop = client.wait_for_stop()
    assert stop.reason == "data breakpoint" and stop.where() == ("Model.forward [0/0]", line(MODULES, "step"))
    assert stop.step("next").where() == ("Model.forward [0/0]", line(MODULES, "gate"))


@pytest.mark.second_leg_only
@WITH_AND_WITHOUT_DEBUGPY
def test_a_step_over_a_graph_break_says_that_another_compile_begins(client: DapClient, runtime: bool) -> None:
    stop = stopped(client, "break", runtime)
    while stop.where()[1] == line(MODULES, "break"):
        assert "text" not in stop.body or "begins here" not in stop.body["text"]
        stop = stop.step("next")
    assert stop.where() == ("Model.forward [1/0]", line(MODULES, "behind"))
    told = f"Compile [1/0] begins here: the one before ended at the graph break in line {line(MODULES, 'break')}."
    assert stop.body["text"] == told
