"""Disassembly, instruction breakpoints, stepping granularity, step-in targets and breakpoint locations, by a client."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.dap.client import DapClient, Stop
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import line, program

pytestmark = pytest.mark.second_leg

COMPILED = program("compiled.py")


def launch(**more: Any) -> dict[str, Any]:
    return {"program": str(COMPILED), "console": "internalConsole", "subProcess": False} | more


def pointer(stop: Stop) -> str:
    reference = stop.frames(0, 1)[0].instruction_pointer_reference
    assert reference is not None
    return reference


def listing(stop: Stop, first: int = -50, count: int = 200) -> list[dict[str, Any]]:
    """What VS Code's Disassembly View shows, without what lies outside the code."""
    wanted = {"memoryReference": pointer(stop), "instructionOffset": first, "instructionCount": count}
    rows: list[dict[str, Any]] = stop.client.request("disassemble", wanted)["instructions"]
    assert len(rows) == count
    return [row for row in rows if row.get("presentationHint") != "invalid"]


def step(stop: Stop, command: str, **how: Any) -> Stop:
    stop.client.request(command, {"threadId": stop.thread_id, **how})
    return stop.client.wait_for_stop()


@pytest.mark.second_leg_only
@pytest.mark.capability("supportsDisassembleRequest")
@WITH_AND_WITHOUT_DEBUGPY
def test_supports_disassemble_request(client: DapClient, runtime: bool) -> None:
    client.launch(launch(runtime=runtime), {COMPILED: [line(COMPILED, "call")]})
    stop = client.wait_for_stop()
    rows = listing(stop)
    here = next(row for row in rows if row["address"] == pointer(stop))
    assert here["line"] == line(COMPILED, "call") and "helper" in here["instruction"]
    assert rows[0]["location"]["path"] == str(COMPILED) and rows[0]["symbol"] == "compiled"
    assert all(frame.instruction_pointer_reference for frame in stop.frames() if "[" in frame.name)
    assert "no code at 0x10" in client.failure("disassemble", {"memoryReference": "0x10", "instructionCount": 1})


@pytest.mark.second_leg_only
@pytest.mark.capability("supportsInstructionBreakpoints")
@WITH_AND_WITHOUT_DEBUGPY
def test_supports_instruction_breakpoints(client: DapClient, runtime: bool) -> None:
    client.launch(launch(runtime=runtime), {COMPILED: [line(COMPILED, "first")]})
    stop = client.wait_for_stop()
    add = next(
        row for row in listing(stop) if row["line"] == line(COMPILED, "after") and "BINARY" in row["instruction"]
    )
    wanted = [{"instructionReference": add["address"]}, {"instructionReference": "0x10"}]
    here, nowhere = client.request("setInstructionBreakpoints", {"breakpoints": wanted})["breakpoints"]
    assert here["verified"] and here["instructionReference"] == add["address"]
    assert not nowhere["verified"] and nowhere["reason"] == "failed"
    stop.resume()
    stop = client.wait_for_stop()
    assert stop.reason == "instruction breakpoint" and stop.hit_breakpoint_ids == [here["id"]]
    assert pointer(stop) == add["address"]
    assert client.request("setInstructionBreakpoints", {"breakpoints": []}) == {"breakpoints": []}
    stop.resume()
    assert client.wait_for_end() == 0


@pytest.mark.capability("supportsSteppingGranularity")
@WITH_AND_WITHOUT_DEBUGPY
def test_supports_stepping_granularity(client: DapClient, runtime: bool) -> None:
    client.launch(launch(runtime=runtime), {COMPILED: [line(COMPILED, "call")]})
    stop = client.wait_for_stop()
    before = int(pointer(stop), 0)
    stop = step(stop, "next", granularity="instruction")
    assert stop.reason == "step" and int(pointer(stop), 0) == before + 2
    while stop.where()[0].startswith("compiled"):
        stop = step(stop, "stepIn", granularity="instruction")
    assert stop.where() == ("helper [0/0]", line(COMPILED, "helper"))
    call = stop.frames()[1].instruction_pointer_reference
    stop = step(stop, "stepOut", granularity="instruction")
    assert call is not None and int(pointer(stop), 0) == int(call, 0) + 2
    assert step(stop, "next", granularity="line").where() == ("compiled [0/0]", line(COMPILED, "after"))


@pytest.mark.capability("supportsStepInTargetsRequest")
@WITH_AND_WITHOUT_DEBUGPY
def test_supports_step_in_targets_request(client: DapClient, runtime: bool) -> None:
    client.launch(launch(runtime=runtime), {COMPILED: [line(COMPILED, "call")]})
    stop = client.wait_for_stop()
    targets = client.request("stepInTargets", {"frameId": stop.frames()[0].id})["targets"]
    assert [target["label"] for target in targets] == ["helper(a)"]
    stop = step(stop, "stepIn", targetId=targets[0]["id"])
    assert stop.where() == ("helper [0/0]", line(COMPILED, "helper"))


@pytest.mark.capability("supportsBreakpointLocationsRequest")
@WITH_AND_WITHOUT_DEBUGPY
def test_supports_breakpoint_locations_request(client: DapClient, runtime: bool) -> None:
    client.launch(launch(runtime=runtime), {COMPILED: [line(COMPILED, "call")]})
    wanted = {"source": {"path": str(COMPILED)}, "line": line(COMPILED, "first"), "endLine": line(COMPILED, "after")}
    found = client.request("breakpointLocations", wanted)["breakpoints"]
    assert [each["line"] for each in found] == [line(COMPILED, mark) for mark in ("first", "call", "after")]
    del wanted["endLine"]
    assert client.request("breakpointLocations", wanted)["breakpoints"] == [{"line": line(COMPILED, "first")}]
