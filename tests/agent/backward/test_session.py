"""A whole session through the adapter: stops in a capture, with debugpy below and without it."""

from __future__ import annotations

import pytest
from dynascope.wire.beyond_dap import FIRST_AGENT_ID
from dynascope.wire.dap import Variable

from tests.support.backward.sessions import EAGER, TRAIN, configuration, ends_well
from tests.support.dap.client import DapClient, Stop
from tests.support.dap.fixtures import client, spawn
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import line

pytestmark = pytest.mark.second_leg

__all__ = ["client", "spawn"]


def names(stop: Stop) -> list[str]:
    return [frame.name for frame in stop.frames()]


@pytest.mark.second_leg_only
@WITH_AND_WITHOUT_DEBUGPY
def test_a_node_stops_with_the_program_below_it(client: DapClient, runtime: bool):
    client.launch(configuration(runtime=runtime), functions=["MmBackward0"])
    stop = client.wait_for_stop()
    assert stop.description == "Paused in a backward" and stop.reason == "function breakpoint"
    shown = names(stop)
    assert shown[:4] == [
        "MmBackward0 [!0 NodeCall 3]",
        "SinBackward0 [!0 NodeCall 2]",
        "SumBackward0 [!0 NodeCall 1]",
        "torch::autograd::GraphRoot [!0 NodeCall 0]",
    ]
    assert "main" in shown
    caller = next(frame for frame in stop.frames() if frame.name == "main")
    assert caller.line == line(TRAIN, "backward")
    assert all(frame.id >= FIRST_AGENT_ID for frame in stop.frames()[:4])
    assert {"Inputs", "Sizes", "Saved Tensors", "Graph", "Compile"} <= set(stop.scopes())
    inputs = stop.variables(stop.scopes()["Inputs"].variables_reference)
    assert inputs["gradients[0]"].value.startswith("f32[3, 2]")
    # tensors of the program below are evaluated for real, in the middle of the capture
    assert stop.evaluate("(weight * 2).sum().item()", caller.id).result == "16.0"
    stop = stop.step("next")
    assert names(stop)[0].startswith("torch::autograd::AccumulateGrad")
    stop.resume()
    assert ends_well(client)


@pytest.mark.second_leg_only
@pytest.mark.capability("breakpointModes")
@WITH_AND_WITHOUT_DEBUGPY
def test_a_line_breakpoint_with_mode_backward(client: DapClient, runtime: bool):
    asked = {"line": line(TRAIN, "forward"), "mode": "backward"}
    placed = client.launch(configuration(runtime=runtime), {TRAIN: [asked]})
    assert [mode["mode"] for mode in client.capabilities["breakpointModes"]][-1] == "backward"
    assert placed[TRAIN][0].verified and "in the backward" in (placed[TRAIN][0].message or "")
    stop = client.wait_for_stop()
    assert stop.hit_breakpoint_ids == [placed[TRAIN][0].id]
    assert stop.where() == ("MmBackward0 [!0 NodeCall 3]", line(TRAIN, "forward"))
    source = stop.frames(0, 1)[0].source
    assert source is not None and source.path == str(TRAIN)
    stop.resume()
    stop = client.wait_for_stop()
    assert stop.where() == ("torch::autograd::AccumulateGrad [!0 NodeCall 4]", line(TRAIN, "forward"))
    stop.resume()
    assert ends_well(client)


@pytest.mark.second_leg_only
def test_nodes_and_saved_tensors_lead_to_the_forward_line(client: DapClient):
    """In the capture, and in Dynamo's trace of the captured graph: node → NodeCall → forward line."""
    asked = {"line": line(TRAIN, "forward"), "mode": "backward"}
    client.launch(configuration(), {TRAIN: [asked]}, functions=["runtime_wrapper"])
    stop = client.wait_for_stop()
    scopes = stop.scopes()

    def places(variables: dict[str, Variable]) -> set[tuple[str, int]]:
        references = [each.declaration_location_reference for each in variables.values()]
        found = [client.request("locations", {"locationReference": each}) for each in references if each is not None]
        return {(each["source"]["path"], each["line"]) for each in found}

    def graph(stop: Stop) -> dict[str, Variable]:
        return stop.variables(stop.scopes()["Graph"].variables_reference)

    sin = str(TRAIN), line(TRAIN, "sin")
    assert sin in places(stop.variables(scopes["Graph"].variables_reference))
    assert places(stop.variables(scopes["Saved Tensors"].variables_reference)) == {(str(TRAIN), line(TRAIN, "forward"))}
    lines = stop.variables(scopes["Forward"].variables_reference)
    assert lines[f"train.py:{line(TRAIN, 'forward')}"].value == "MmBackward0, AccumulateGrad"
    assert lines[f"train.py:{line(TRAIN, 'sin')}"].value == "SumBackward0, SinBackward0"
    nodes = stop.variables(lines[f"train.py:{line(TRAIN, 'forward')}"].variables_reference)
    assert (nodes["MmBackward0"].value, nodes["torch::autograd::AccumulateGrad"].value) == ("NodeCall 3", "to come")
    assert places(lines) == {(str(TRAIN), line(TRAIN, mark)) for mark in ("forward", "sin")}
    document = scopes["Graph"].source
    assert document is not None and document.name == "backward [!0] graph so far"
    content = client.request("source", {"sourceReference": document.source_reference})["content"]
    assert content.startswith("# backward [!0] graph so far\ndef backward(self,")
    stop.resume()
    while not (stop := client.wait_for_stop()).where()[0].startswith("runtime_wrapper"):
        stop.resume()
    stop = stop.step("stepIn")
    while "sin_backward" not in " ".join(graph(stop)):
        stop = stop.step("next")
    assert sin in places(graph(stop))
    traced = next(row for name, row in graph(stop).items() if name.startswith("sin_backward"))
    facts = stop.variables(traced.variables_reference)
    assert facts["node"].value == "SinBackward0 (NodeCall 2)" and "user line" not in facts
    assert facts["forward line"].value == f"{TRAIN}:{line(TRAIN, 'sin')}"
    stop.resume()
    assert ends_well(client)


@pytest.mark.second_leg_only
def test_runtime_breakpoints_still_stop_after_a_stop_in_a_capture(client: DapClient):
    client.launch(configuration(), {TRAIN: [line(TRAIN, "after")]}, functions=["SinBackward0"])
    assert names(client.wait_for_stop())[0] == "SinBackward0 [!0 NodeCall 2]"
    client.request("continue", {"threadId": client.threads()[0].id})
    stop = client.wait_for_stop()
    assert stop.where() == ("main", line(TRAIN, "after"))
    stop.resume()
    assert ends_well(client)


@pytest.mark.second_leg_only
def test_stepping_in_at_the_backward_reaches_the_nodes_and_then_the_trace_of_the_graph(client: DapClient):
    client.launch(configuration(), {TRAIN: [line(TRAIN, "backward")]}, functions=["runtime_wrapper"])
    stop = client.wait_for_stop()
    assert stop.where() == ("main", line(TRAIN, "backward"))
    stop = stop.step("stepIn")
    assert names(stop)[0] == "torch::autograd::GraphRoot [!0 NodeCall 0]"
    stop = stop.step("stepOut")
    stop.resume()
    stop = client.wait_for_stop()
    assert names(stop)[0] == "runtime_wrapper [!0]"
    assert "Passes" in stop.scopes()
    stop.resume()
    assert ends_well(client)


@pytest.mark.second_leg_only
@WITH_AND_WITHOUT_DEBUGPY
def test_stepping_in_from_the_captured_graph_traces_it_with_its_forward_lines(client: DapClient, runtime: bool):
    asked = {"line": line(TRAIN, "sin"), "mode": "backward"}
    client.launch(configuration(runtime=runtime), {TRAIN: [asked]}, functions=["runtime_wrapper"])
    client.wait_for_stop().resume()
    client.wait_for_stop().resume()
    stop = client.wait_for_stop()
    assert names(stop)[0] == "runtime_wrapper [!0]"
    found = []
    for _ in range(40):
        stop = stop.step("stepIn")
        name, at = stop.where()
        found.append((name, at))
        if name.startswith("MmBackward0 [!0/0"):
            break
    assert ("MmBackward0 [!0/0/0 NodeCall 3]", line(TRAIN, "forward")) in found, found
    stop.resume()
    assert ends_well(client)


@pytest.mark.second_leg_only
@WITH_AND_WITHOUT_DEBUGPY
@pytest.mark.parametrize("backend", ["eager", "nonsense"])
def test_a_setting_turns_it_on_for_the_whole_program(client: DapClient, backend: str, runtime: bool):
    placed = configuration(program=str(EAGER), runtime=runtime, compiledAutograd=backend)
    client.launch(placed, functions=["AddmmBackward0"])
    if backend == "eager":
        stop = client.wait_for_stop()
        assert stop.where() == ("AddmmBackward0 [!0 NodeCall 2]", line(EAGER, "forward"))
        stop.resume()
    assert client.wait_for_end() == 0
    assert client.output("stdout").split() == ["gradient", "3.0"]
    if backend == "nonsense":
        assert "torch knows no backend 'nonsense' for `compiledAutograd`" in client.output("important")


@pytest.mark.second_leg_only
@pytest.mark.parametrize("behind", ["dce", "runtime_wrapper"])
def test_stepping_out_behind_the_last_node_comes_back_to_the_program(client: DapClient, behind: str):
    client.launch(configuration(), functions=[behind])
    stop = client.wait_for_stop()
    assert names(stop)[0] == f"{behind} [!0]"
    stop = stop.step("stepOut")
    assert stop.reason == "step" and names(stop)[0] == "main"
    assert stop.frames()[0].line in (
        line(TRAIN, "backward") - 1,
        line(TRAIN, "after"),
    )  # the end of the `with`, or behind
    stop.resume()
    assert ends_well(client)
