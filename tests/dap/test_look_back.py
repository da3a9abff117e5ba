"""Back beyond the compile that is stopped: past lines of earlier compiles and attempts."""

from __future__ import annotations

from typing import Any

import psutil
import pytest

from tests.support.dap.client import DapClient, RequestFailed, Stop
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import line, program

PROGRAM = program("looked_back.py")


def at(label: str) -> int:
    return line(PROGRAM, label)


def second_compile(client: DapClient, runtime: bool, **more: Any) -> Stop:
    """Go to the first line of the second compile."""
    arguments = {"program": str(PROGRAM), "console": "internalConsole", "subProcess": False, "redirectOutput": True}
    client.launch(arguments | {"runtime": runtime} | more, {PROGRAM: [at("last")]})
    client.wait_for_stop().resume()
    stop = client.wait_for_stop()
    assert stop.where() == ("function [0/1]", at("last"))
    stop = stop.step("reverseContinue")
    assert stop.where() == ("function [0/1]", at("first"))
    return stop


def lines(stop: Stop, *commands: str) -> tuple[Stop, list[int]]:
    """Return the last stop, and the line at which each command ends."""
    found = []
    for command in commands:
        stop = stop.step(command)
        found.append(stop.where()[1])
    return stop, found


@WITH_AND_WITHOUT_DEBUGPY
def test_back_into_an_earlier_compile_and_forward_out_of_it(client: DapClient, runtime: bool) -> None:
    live = second_compile(client, runtime)
    past = live.step("reverseContinue")
    first = "function [0/0 past]"
    assert past.reason == "breakpoint" and past.where() == (first, at("last"))
    assert past.description == "Past: compile [0/0]"
    rows = past.locals()
    assert {name: row.value for name, row in rows.items()} == {"x": "f32[3]", "n": "2", "total": "f32[3]", "i": "1"}
    assert all(row.variables_reference == 0 for row in rows.values())
    loop, call, inner = at("call") - 1, at("call"), at("scale")
    commands = ["stepBack", "stepIn", "stepBack", "stepBack", "stepIn", "stepIn", "stepOut", "next", "reverseContinue"]
    expected = [loop, at("last"), loop, call, inner, inner + 1, loop, at("last"), at("first")]
    stop, found = lines(past, *commands)
    assert found == expected
    assert stop.where() == (first, at("first"))
    assert "Nothing before this is kept" in client.failure("stepBack", {"threadId": stop.thread_id})
    stop = stop.step("continue")
    assert stop.where() == (first, at("last"))
    stop = stop.step("continue")
    assert stop.where() == ("function [0/1]", at("first"))
    assert stop.evaluate("x.shape").result == "torch.Size([3])"
    stop.resume()  # silently: the breakpoint has stopped before
    assert client.wait_for_end() == 0
    assert client.output("stdout") == "two 48.0\nthree 195.0\nframes 2\n"


def test_reverse_finds_a_stop_from_before_going_back_in_that_compile(client: DapClient) -> None:
    arguments = {"program": str(PROGRAM), "console": "internalConsole", "subProcess": False}
    client.launch(arguments, {PROGRAM: [{"line": at("call"), "condition": "i == 1"}]})
    stop = client.wait_for_stop()
    stop.step("stepBack").resume()  # silently: the breakpoint has stopped before
    stop = client.wait_for_stop()
    assert stop.where() == ("function [0/1]", at("call"))
    stop = stop.step("reverseContinue").step("reverseContinue")
    assert stop.where() == ("function [0/0 past]", at("call")) and stop.reason == "breakpoint"
    assert stop.locals()["i"].value == "1"


def test_what_is_not_known_at_a_past_line_is_said(client: DapClient) -> None:
    past = second_compile(client, True).step("reverseContinue")
    assert past.evaluate("total").result == "f32[3]"
    with pytest.raises(RequestFailed, match=r"`total\.shape` cannot be known here: this line is past"):
        past.evaluate("total.shape")
    frame = past.frames()[0]
    assert {"Locals", "Guards", "Shapes", "Graph"} <= set(past.scopes(frame.id))
    client.request("restartFrame", {"frameId": frame.id})
    stop = client.wait_for_stop()
    assert stop.where() == ("function [0/0 past]", at("first"))
    stop = stop.step("next").step("next").step("stepIn")
    assert [frame.name for frame in stop.frames()[:2]] == ["scale [0/0 past]", "function [0/0 past]"]


def test_a_session_without_histories_has_nothing_to_look_back_at(client: DapClient) -> None:
    stop = second_compile(client, True, history=False)
    assert "This is the first line" in client.failure("stepBack", {"threadId": stop.thread_id})


@WITH_AND_WITHOUT_DEBUGPY
def test_a_client_that_leaves_at_a_past_line(client: DapClient, runtime: bool) -> None:
    second_compile(client, runtime).step("reverseContinue")
    process = psutil.Process(client.wait_for_event("process")["body"]["systemProcessId"])
    client.request("disconnect", {"terminateDebuggee": True})
    process.wait(60)


def test_the_timeline_leads_to_what_has_ended(client: DapClient) -> None:
    live = second_compile(client, True)
    events = client.request("dynascopeTimeline", {"count": 100})["events"]
    ways = {event["kind"]: event for event in events if event.get("targetId")}
    first = next(event for event in events if event["kind"] == "stop")
    assert first["compileId"] == "0/0" and first["threadId"] == live.thread_id
    client.request("goto", {"threadId": live.thread_id, "targetId": first["targetId"]})
    stop = client.wait_for_stop()
    assert stop.reason == "goto" and stop.where() == ("function [0/0 past]", at("last"))
    # to the line for which the compile that no longer fits has the guard that failed
    client.request("goto", {"threadId": live.thread_id, "targetId": ways["recompile"]["targetId"]})
    assert client.wait_for_stop().where() == ("function [0/0 past]", at("call") - 1)
    # and to the compile that is stopped
    client.request("goto", {"threadId": live.thread_id, "targetId": ways["compile"]["targetId"]})
    assert client.wait_for_stop().where() == ("function [0/1]", at("first"))


def test_a_jump_leads_to_a_line_of_an_earlier_compile(client: DapClient) -> None:
    client.launch({"program": str(PROGRAM), "console": "internalConsole"}, {PROGRAM: [at("first")]})
    client.wait_for_stop().resume()
    live = client.wait_for_stop()
    assert live.where() == ("function [0/1]", at("first"))
    (target,) = client.request("gotoTargets", place("scale"))["targets"]
    client.request("goto", {"threadId": live.thread_id, "targetId": target["id"]})
    assert client.wait_for_stop().where() == ("scale [0/0 past]", at("scale"))


def place(label: str) -> dict[str, Any]:
    return {"source": {"path": str(PROGRAM)}, "line": at(label)}


def test_no_jump_leads_to_an_earlier_compile_when_the_line_comes_in_this_one(client: DapClient) -> None:
    live = second_compile(client, True)
    for label in ("call", "scale", "last"):  # of this function, and of one that was traced before going back
        assert f"has not begun line {at(label)}" in client.failure("gotoTargets", place(label))
    past = live.step("reverseContinue").step("reverseContinue")
    assert past.where() == ("function [0/0 past]", at("first"))
    assert f"In compile [0/0] Dynamo had not begun line {at('last')}" in client.failure("gotoTargets", place("last"))
