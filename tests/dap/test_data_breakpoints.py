"""Data breakpoints and graph-node breakpoints through a real client."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.dap.client import DapClient, Stop
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import line, program

WATCHED = program("watched.py")


def launch(runtime: bool, **more: Any) -> dict[str, Any]:
    configuration = {"program": str(WATCHED), "console": "internalConsole", "subProcess": False}
    return configuration | {"redirectOutput": True, "runtime": runtime} | more


def stopped(client: DapClient, runtime: bool, mark: str = "start") -> Stop:
    client.launch(launch(runtime), {WATCHED: [line(WATCHED, mark)]})
    return client.wait_for_stop()


def right_click(stop: Stop, name: str, scope: str = "Locals") -> dict[str, Any]:
    reference = stop.scopes()[scope].variables_reference
    return stop.client.request("dataBreakpointInfo", {"variablesReference": reference, "name": name})


def watch(client: DapClient, *wanted: dict[str, Any]) -> list[dict[str, Any]]:
    placed: list[dict[str, Any]] = client.request("setDataBreakpoints", {"breakpoints": list(wanted)})["breakpoints"]
    return placed


def next_stop(stop: Stop) -> Stop:
    stop.resume()
    return stop.client.wait_for_stop()


@pytest.mark.capability("supportsDataBreakpoints")
@WITH_AND_WITHOUT_DEBUGPY
def test_supports_data_breakpoints(client: DapClient, runtime: bool) -> None:
    """A right click on a tensor: its shape and its dtype change, once each."""
    stop = stopped(client, runtime)
    found = right_click(stop, "y")
    assert found["accessTypes"] == ["read", "write", "readWrite"] and found["canPersist"]
    assert found["description"] == "y in Model.forward (watched.py)"
    placed = watch(client, {"dataId": found["dataId"], "accessType": "write"})
    assert placed[0]["verified"]
    reshaped = next_stop(stop)
    assert reshaped.reason == "data breakpoint" and reshaped.at_compile_time
    assert reshaped.hit_breakpoint_ids == [placed[0]["id"]]
    assert reshaped.body["text"] == f"y: f32[4, 4] → f32[16] (watched.py:{line(WATCHED, 'reshape')})"
    assert reshaped.where() == ("Model.forward [0/0]", line(WATCHED, "append"))
    halved = next_stop(reshaped)
    assert halved.body["text"] == f"y: f32[16] → f16[16] (watched.py:{line(WATCHED, 'half')})"
    halved.resume()
    assert client.wait_for_end() == 0


@WITH_AND_WITHOUT_DEBUGPY
def test_a_guard_row_and_a_list(client: DapClient, runtime: bool) -> None:
    stop = stopped(client, runtime)
    guard = right_click(stop, "x", "Guards")
    cache = client.request("dataBreakpointInfo", {"name": "self.cache", "frameId": stop.frames(0, 1)[0].id})
    node = right_click(stop, "y", "Graph")
    assert node["accessTypes"] == ["read"]
    placed = watch(
        client,
        {"dataId": guard["dataId"], "accessType": "read"},
        {"dataId": cache["dataId"], "accessType": "write"},
    )
    assert all(each["verified"] for each in placed)
    appended = next_stop(stop)
    assert appended.body["text"] == f"self.cache is mutated (watched.py:{line(WATCHED, 'append')})"
    assert appended.hit_breakpoint_ids == [placed[1]["id"]]
    used = next_stop(appended)
    assert used.hit_breakpoint_ids == [placed[0]["id"]]
    assert used.body["text"].startswith("L['x'] is an input of %sub")
    assert watch(client) == []
    used.resume()
    assert client.wait_for_end() == 0


@WITH_AND_WITHOUT_DEBUGPY
def test_an_attribute_that_does_not_exist_yet(client: DapClient, runtime: bool) -> None:
    stop = stopped(client, runtime)
    frame = stop.frames(0, 1)[0].id
    found = client.request("dataBreakpointInfo", {"name": "self.late", "frameId": frame})
    assert found["description"].endswith(": there is none yet, it stops when it is set")
    for refused in ("y.late", "self.late.later", "nobody.late"):
        assert client.request("dataBreakpointInfo", {"name": refused, "frameId": frame})["dataId"] is None
    placed = watch(client, {"dataId": found["dataId"], "accessType": "write"})
    late = next_stop(stop)
    assert late.hit_breakpoint_ids == [placed[0]["id"]]
    assert late.body["text"] == f"self.late is set to 3 (watched.py:{line(WATCHED, 'late')})"
    late.resume()
    assert client.wait_for_end() == 0


def test_what_cannot_be_watched_says_why(client: DapClient) -> None:
    stop = stopped(client, True)
    symbolic, running = stop.frames(0, 2)
    nobody = client.request("dataBreakpointInfo", {"name": "nobody", "frameId": symbolic.id})
    assert nobody["dataId"] is None and "There is no nobody" in nobody["description"]
    symbol = client.request("dataBreakpointInfo", {"name": "s99", "frameId": symbolic.id})
    assert symbol["dataId"] is None and "There is no symbol s99" in symbol["description"]
    called = client.request("dataBreakpointInfo", {"name": "x + 1", "frameId": symbolic.id})
    assert called["dataId"] is None and "cannot be watched" in called["description"]
    concrete = client.request("dataBreakpointInfo", {"name": "x", "frameId": running.id})
    assert concrete["dataId"] is None and "compile-time frame" in concrete["description"]
    failed = watch(client, {"dataId": "nonsense"}, {"dataId": "symbol::*::*::s0", "condition": "x >"})
    assert [each["verified"] for each in failed] == [False, False]
    assert "is not a data id" in failed[0]["message"] and "is not a Python expression" in failed[1]["message"]


def test_names_need_no_stop_and_breakpoints_outlive_a_restart(client: DapClient) -> None:
    stop = stopped(client, False)
    name = client.request("dataBreakpointInfo", {"name": f"{WATCHED}:Model.forward:y"})
    assert name["dataId"] == right_click(stop, "y")["dataId"]
    watch(client, {"dataId": name["dataId"], "condition": "y.dtype is torch.float16"})
    client.set_breakpoints(WATCHED)
    client.request("restart")
    assert "→ f16[16]" in client.wait_for_stop().body["text"]


@WITH_AND_WITHOUT_DEBUGPY
def test_a_function_breakpoint_names_an_operator(client: DapClient, runtime: bool) -> None:
    client.launch(launch(runtime), functions=["torch.mm", "call_method half"])
    stop = client.wait_for_stop()
    assert stop.reason == "function breakpoint" and stop.at_compile_time
    assert stop.where() == ("Model.helper [0/0]", line(WATCHED, "mm"))
    assert stop.body["text"].startswith("%mm = call_function[target=torch.mm](args = (")
    assert next_stop(stop).where() == ("Model.forward [0/0]", line(WATCHED, "half"))
    states = [
        client.request("setFunctionBreakpoints", {"breakpoints": [{"name": name}]})["breakpoints"][0]
        for name in ("torch.mm", "aten.mm", "torch.ops.aten.nothing", "add")
    ]
    assert all(state["verified"] for state in states)
    assert "AOTAutograd" in states[1]["message"] and "No operator" in states[2]["message"]
    assert "in functions of this name, and where" in states[3]["message"]


def test_a_condition_may_use_the_node(client: DapClient, tmp_path: Path) -> None:
    stop = stopped(client, False)
    wanted = [
        {"name": "torch.mm", "condition": "node.args[0].meta['example_value'].shape[0] == 99"},
        {"name": "operator.sub", "condition": "node.args[1].name.startswith('l_') and x.shape[0] == 4"},
    ]
    placed = client.request("setFunctionBreakpoints", {"breakpoints": wanted})["breakpoints"]
    assert next_stop(stop).hit_breakpoint_ids == [placed[1]["id"]]
