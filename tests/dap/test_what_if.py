"""Try a change at a compile-time stop, by a client: the console, values that are set, and what is kept."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.dap.client import DapClient, Stop
from tests.support.debugpy import DEBUGPY
from tests.support.marks import line, program

COMPILED = program("compiled.py")


@pytest.fixture(params=DEBUGPY, ids=["debugpy", "alone"])
def stop(client: DapClient, request: pytest.FixtureRequest) -> Stop:
    runtime: bool = request.param
    wanted: dict[str, Any] = {"program": str(COMPILED), "console": "internalConsole", "subProcess": False}
    client.launch(wanted | {"runtime": runtime}, {COMPILED: [line(COMPILED, "after")]})
    return client.wait_for_stop()


def test_the_difference_is_told_and_has_rows_and_the_program_compiles_plainly(client: DapClient, stop: Stop) -> None:
    told = stop.evaluate("what if x.shape[0] dynamic")
    assert "(x.size()[0]) in [2, oo]" in told.result and told.result.endswith("what if keep")
    rows = stop.variables(told.variables_reference)
    assert rows["graph break"].value == "no graph break" and rows["graphs"].value == "1 graph with 4 operations"
    assert "x.size()[0]" in rows["symbol new"].value
    assert stop.locals()["x"].value == "f32[2, 3]"
    stop.resume()
    assert client.wait_for_end() == 0


def test_a_change_that_is_kept_is_made_when_the_program_goes_on(client: DapClient, stop: Stop) -> None:
    stop.evaluate("what if x.shape[0] dynamic")
    assert "traced again from its start" in stop.evaluate("what if keep").result
    stop = stop.step("stepBack")
    assert stop.where() == ("compiled [0/0]", line(COMPILED, "call"))
    assert stop.locals()["x"].value == "f32[s77, 3]"
    assert stop.evaluate("what if undo").result.startswith("No longer kept: x.shape[0] dynamic (")
    stop = stop.step("next")
    assert stop.where() == ("compiled [0/0]", line(COMPILED, "after")) and stop.locals()["x"].value == "f32[2, 3]"
    stop.resume()
    assert client.wait_for_end() == 0


def test_a_number_that_is_set_is_tried(client: DapClient, stop: Stop) -> None:
    locals_ = stop.scopes()["Locals"].variables_reference
    hint = stop.variables(locals_)["width"].presentation_hint
    assert hint is None or "readOnly" not in (hint.attributes or ())  # clients offer "Set Value" there
    changed = client.request("setVariable", {"variablesReference": locals_, "name": "width", "value": "8"})
    assert changed["value"] == "4", "the program compiles without it"
    assert "What if width = 8?" in client.output("console")
    assert "= b + 8" in client.output("console")
    changed = client.request(
        "setExpression", {"expression": "x.shape[0]", "value": "dynamic", "frameId": stop.frames()[0].id}
    )
    assert changed["value"] == "2"
    assert "(x.size()[0]) in [2, oo]" in client.output("console")
    wanted = {"variablesReference": locals_, "name": "width", "value": "x.sum()"}
    assert "Only a number" in client.failure("setVariable", wanted)
    stop.resume()
    assert client.wait_for_end() == 0


def test_at_run_time_there_is_nothing_to_try(client: DapClient, stop: Stop) -> None:
    runs = stop.frames()[-1].id
    wanted = {"expression": "what if graph break", "frameId": runs, "context": "repl"}
    assert client.failure("evaluate", wanted)
    assert "scopes" in client.request("scopes", {"frameId": runs})


def test_torch_logs_nothing_of_what_is_tried(client: DapClient) -> None:
    wanted = {"program": str(COMPILED), "console": "internalConsole", "subProcess": False, "redirectOutput": True}
    environment = {"TORCH_LOGS": "graph_code,graph_breaks"}
    client.launch(wanted | {"env": environment}, {COMPILED: [line(COMPILED, "after")]})
    stop = client.wait_for_stop()
    assert "Graph break: " in stop.evaluate("what if graph break").result
    stop.resume()
    client.wait_for_end()
    assert client.output("stderr").count("TRACED GRAPH") == 1 and "Graph break in user code" not in client.output()
