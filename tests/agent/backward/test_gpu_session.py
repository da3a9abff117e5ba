"""Whole sessions on a GPU: from the forward at compile time to the trace of the captured backward."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.dap.client import DapClient, Stop
from tests.support.dap.fixtures import client, spawn
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import PROGRAMS, line

__all__ = ["client", "spawn"]
pytestmark = [pytest.mark.second_leg, pytest.mark.cuda]
PROGRAM = PROGRAMS / "backward" / "on_gpu.py"


def rows(stop: Stop, scope: str) -> dict[str, Any]:
    return stop.variables(stop.scopes()[scope].variables_reference)


@WITH_AND_WITHOUT_DEBUGPY
def test_forward_backward_and_the_trace_of_the_captured_graph(client: DapClient, runtime: bool):
    settings = {"program": str(PROGRAM), "console": "internalConsole", "subProcess": False, "redirectOutput": True}
    client.launch(
        settings | {"runtime": runtime},
        {PROGRAM: [line(PROGRAM, "trace"), {"line": line(PROGRAM, "forward"), "mode": "backward"}]},
        functions=["AddmmBackward0", "runtime_wrapper"],
    )

    # Dynamo traces the forward
    stop = client.wait_for_stop()
    assert stop.at_compile_time and stop.where() == ("Block.forward [0/0]", line(PROGRAM, "trace"))
    assert stop.locals()["hidden"].value == "f32[3, 8] cuda:0"
    assert stop.evaluate("hidden @ hidden.t()").result == "f32[3, 3] cuda:0"
    stop.resume()

    # the engine's nodes are captured: those of the line, and the one named
    stop = client.wait_for_stop()
    while not stop.where()[0].startswith("AddmmBackward0"):
        assert stop.where()[1] == line(PROGRAM, "forward")
        stop.resume()
        stop = client.wait_for_stop()
    assert stop.where()[1] == line(PROGRAM, "forward")
    assert rows(stop, "Inputs")["gradients[0]"].value.startswith("f32[3, 2] cuda:0")
    caller = next(frame for frame in stop.frames() if frame.name == "main")
    assert caller.line == line(PROGRAM, "backward")
    assert stop.evaluate("inputs.sum().item()", caller.id).result == "12.0"

    # the passes have run
    while not stop.where()[0].startswith("runtime_wrapper"):
        stop.resume()
        stop = client.wait_for_stop()
    assert rows(stop, "Passes")["move_graph_nodes_to_cuda"].value.startswith("chose inputs ")
    scalars = rows(stop, "Compile")["CPU scalars"]
    assert scalars.value == "1 moved to CUDA of 1"
    (scalar,) = stop.variables(scalars.variables_reference).values()
    assert scalar.value == "moved to CUDA before each run: pinned, then copied without waiting"

    # Dynamo traces the captured graph, on true shapes
    for _ in range(60):
        stop = stop.step("stepIn")
        if stop.where()[0].startswith("AddmmBackward0 [!0/"):
            break
    assert stop.where()[0].startswith("AddmmBackward0 [!0/"), stop.where()
    assert stop.where()[1] == line(PROGRAM, "forward")
    assert "cuda:0" in " ".join(each.value for each in rows(stop, "Graph").values())
    stop.resume()

    assert client.wait_for_end() == 0
    assert client.output("stdout").split() == ["1.5", "cuda:0"] * 3 + ["after"]
    console = client.output("console")
    assert "backward 0: captured as graph !0" in console and "backward 2: reused graph !0" in console
    assert "(4 bytes, pinned)" in console
