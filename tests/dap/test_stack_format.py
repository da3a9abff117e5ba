"""`stackTrace` with a `StackFrameFormat`: parameters of symbolic frames, and frames that are left out otherwise."""

from __future__ import annotations

import re
from typing import Any

from tests.support.dap.client import DapClient, Stop
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import line, program

PROGRAM = program("parameters.py")


def stopped(client: DapClient, **more: Any) -> Stop:
    configuration = {"program": str(PROGRAM), "console": "internalConsole", "subProcess": False} | more
    client.launch(configuration, {PROGRAM: [line(PROGRAM, "inlined")]})
    return client.wait_for_stop()


def names(stop: Stop, **format: bool) -> list[str]:
    asked = {"threadId": stop.thread_id, "format": format}
    found = [frame["name"] for frame in stop.client.request("stackTrace", asked)["stackFrames"]]
    return [re.sub(r"\bs\d+\b", "s0", name) for name in found]


@WITH_AND_WITHOUT_DEBUGPY
def test_frames_are_named_with_their_parameters(client: DapClient, runtime: bool) -> None:
    stop = stopped(client, runtime=runtime)
    plain = names(stop)
    assert names(stop, parameters=True)[:2] == [
        "scaled(x: f32[s0, s0], factor: int, bias: f32[s0, s0], *rest: tuple, **options: dict) [0/0]",
        "Layer.forward(self: Layer, x: f32[s0, s0], width: SymInt, names: list) [0/0]",
    ]
    every = {"parameters": True, "parameterNames": True, "parameterTypes": True, "parameterValues": True}
    assert names(stop, **every)[1] == (
        "Layer.forward(self: Layer = Layer module, x: f32[s0, s0], width: SymInt = s0, names: list = ['a']) [0/0]"
    )
    assert names(stop, parameters=True, parameterNames=True)[0] == "scaled(x, factor, bias, *rest, **options) [0/0]"
    valued = names(stop, parameters=True, parameterNames=True, parameterValues=True, hex=True)[0]
    assert valued.startswith("scaled(x=f32[s0, s0], factor=0x3, bias=f32[s0, s0], *rest=(0x1, 0x2)")
    assert names(stop, parameterTypes=True, module=True, line=True)[1] == (
        f"parameters.Layer.forward(Layer, f32[s0, s0], SymInt, list) [0/0] : {line(PROGRAM, 'call')}"
    )
    assert names(stop) == plain
    if not runtime:
        assert "run(count: int = 1)" in names(stop, **every)
    stop.resume()
    assert client.wait_for_end() == 0


def test_include_all_shows_the_frames_of_libraries(client: DapClient) -> None:
    stop = stopped(client, runtime=False)
    asked = {"threadId": stop.thread_id, "format": {"includeAll": True}}
    usual, whole = stop.frames(), client.request("stackTrace", asked)["stackFrames"]
    ids = [frame["id"] for frame in whole]
    assert [frame.id for frame in usual] == [id for id in ids if id in {frame.id for frame in usual}]
    added = [frame for frame in whole if frame["id"] not in {frame.id for frame in usual}]
    assert any("_dynamo" in frame["source"]["path"] for frame in added)
    assert not any("/dynascope/agent/" in frame["source"]["path"] for frame in added)
    assert stop.locals(added[0]["id"])
    assert [frame["id"] for frame in client.request("stackTrace", asked)["stackFrames"]] == ids
