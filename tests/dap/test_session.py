"""A session from launch to the end: stops, stack, scopes, variables, evaluation and steps of both halves."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from dynascope.wire.beyond_dap import FIRST_AGENT_ID

from tests.support.dap.client import DapClient
from tests.support.marks import line, program

pytestmark = pytest.mark.second_leg

COMPILED = program("compiled.py")


def configuration(**more: Any) -> dict[str, Any]:
    return {"program": str(COMPILED), "console": "internalConsole", "subProcess": False, "redirectOutput": True} | more


@pytest.mark.capability("supportsConfigurationDoneRequest")
@pytest.mark.parametrize("runtime", [True, False])
def test_a_breakpoint_stops_where_dynamo_traces(client: DapClient, runtime: bool) -> None:
    placed = client.launch(configuration(runtime=runtime), {COMPILED: [line(COMPILED, "helper")]})
    stop = client.wait_for_stop()
    assert stop.at_compile_time and stop.reason == "breakpoint"
    assert stop.hit_breakpoint_ids == [placed[COMPILED][0].id]
    frames = stop.frames()
    names = [frame.name for frame in frames]
    assert names[:2] == ["helper [0/0]", "compiled [0/0]"] and "caller" in names and "<module>" in names
    assert [frame.line for frame in frames[:2]] == [line(COMPILED, "helper"), line(COMPILED, "call")]
    assert all(frame.id >= FIRST_AGENT_ID for frame in frames[:2])
    assert frames[0].source is not None and frames[0].source.path == str(COMPILED)
    assert stop.locals()["q"].value == "f32[2, 3]"
    assert stop.evaluate("q.shape").result == "torch.Size([2, 3])"
    caller = next(frame for frame in frames if frame.name == "caller")
    assert stop.locals(caller.id)["label"].value == "'caller x'"
    assert stop.evaluate("len(label)", caller.id).result == "8"
    stop.resume()
    assert client.wait_for_end() == 0
    assert client.output("stdout").split("\n")[:2] == ["caller x", "the end"]


@pytest.mark.capability("supportsDelayedStackTraceLoading")
def test_stack_trace_is_paged(client: DapClient) -> None:
    client.launch(configuration(), {COMPILED: [line(COMPILED, "helper")]})
    stop = client.wait_for_stop()
    whole = stop.stack_trace()
    total = whole["totalFrames"]
    assert total == len(whole["stackFrames"]) >= 4
    one_by_one = [stop.stack_trace(start, 1)["stackFrames"][0]["name"] for start in range(total)]
    assert one_by_one == [frame["name"] for frame in whole["stackFrames"]]
    assert stop.stack_trace(1, 2)["totalFrames"] == total
    for rest in (stop.stack_trace(1), stop.stack_trace(1, 0)):
        assert rest == {"stackFrames": whole["stackFrames"][1:], "totalFrames": total}
    assert stop.stack_trace(-total - 5, -1) == whole


@pytest.mark.second_leg_only
def test_steps_through_an_inlined_call_and_out_to_the_running_program(client: DapClient) -> None:
    client.launch(configuration(), {COMPILED: [line(COMPILED, "call")]})
    stop = client.wait_for_stop()
    assert stop.where() == ("compiled [0/0]", line(COMPILED, "call"))
    stop = stop.step("stepIn")
    assert stop.where() == ("helper [0/0]", line(COMPILED, "helper")) and stop.reason == "step"
    stop = stop.step("stepOut")
    stop = stop if stop.where()[1] != line(COMPILED, "call") else stop.step("next")
    assert stop.where() == ("compiled [0/0]", line(COMPILED, "after"))
    stop = stop.step("next")
    assert not stop.at_compile_time and stop.where()[0] == "caller"
    stop.resume()
    assert client.wait_for_end() == 0


def test_runtime_breakpoints_carry_our_ids(client: DapClient) -> None:
    placed = client.launch(configuration(), {COMPILED: [line(COMPILED, "start"), line(COMPILED, "ran")]})
    ids = [breakpoint.id for breakpoint in placed[COMPILED]]
    stop = client.wait_for_stop()
    assert stop.hit_breakpoint_ids == [ids[0]] and not stop.at_compile_time
    stop.resume()
    assert client.wait_for_stop().hit_breakpoint_ids == [ids[1]]


@pytest.mark.second_leg_only
def test_what_a_symbolic_frame_cannot_do_is_refused_in_words(client: DapClient) -> None:
    client.launch(configuration(), {COMPILED: [line(COMPILED, "helper")]})
    stop = client.wait_for_stop()
    frame = stop.frames(0, 1)[0].id
    reference = stop.scopes(frame)["Locals"].variables_reference
    wanted = {"variablesReference": reference, "name": "q", "value": "1"}
    assert "compile-time stop" in client.failure("setVariable", wanted)
    wanted = {"expression": "q", "value": "1", "frameId": frame}
    assert "compile-time stop" in client.failure("setExpression", wanted)
    assert "compile time" in client.failure("exceptionInfo", {"threadId": stop.thread_id})
    assert "compile time" in client.failure("goto", {"threadId": stop.thread_id, "targetId": 1})
    assert client.request("stepInTargets", {"frameId": frame}) == {"targets": []}
    stop.resume()
    client.wait_for_end()
    assert "over" in client.failure("scopes", {"frameId": frame})


@pytest.mark.second_leg_only
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="coverage.py and debugpy share no trace function there")
def test_a_program_that_coverage_measures_says_what_that_costs(client: DapClient, tmp_path: Path) -> None:
    program = tmp_path / "measured.py"
    program.write_text(
        "import sys, types\n"
        "sys.modules['coverage'] = types.SimpleNamespace(Coverage=types.SimpleNamespace(current=object))\n"
        "import torch\n"
        "torch.compile(lambda x: x + 1, backend='eager')(torch.ones(2))\n"
    )
    client.launch({"program": str(program), "console": "internalConsole"}, {})
    assert client.wait_for_end() == 0
    assert "coverage.py measures this program" in client.output("important")
