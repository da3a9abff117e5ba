"""Step back, reverse and restart a frame, by a client; and the capabilities that come and go with the kind of stop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support.dap.client import DapClient, Stop
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import line, program

pytestmark = pytest.mark.second_leg

COMPILED = program("compiled.py")
AGAIN = program("traced_again.py")


def launch(**more: Any) -> dict[str, Any]:
    return {"program": str(COMPILED), "console": "internalConsole", "subProcess": False} | more


def at(label: str) -> int:
    return line(COMPILED, label)


def lines(stop: Stop, *commands: str) -> list[int]:
    """The line at which each command ends."""
    found = []
    for command in commands:
        stop = stop.step(command)
        found.append(stop.where()[1])
    return found


@pytest.mark.second_leg_only
@pytest.mark.capability("supportsStepBack")
@WITH_AND_WITHOUT_DEBUGPY
def test_supports_step_back(client: DapClient, runtime: bool) -> None:
    client.launch(launch(runtime=runtime), {COMPILED: [at("call"), at("after")]})
    stop = client.wait_for_stop()
    shown = {name: row.value for name, row in stop.locals().items()}
    assert lines(stop, "next") == [at("after")]
    stop = stop.step("stepBack")
    assert stop.reason == "step" and stop.where() == ("compiled [0/0]", at("call"))
    assert {name: row.value for name, row in stop.locals().items()} == shown
    assert stop.evaluate("a.shape").result == "torch.Size([2, 3])"
    commands = {"stepBack": "first", "next": "call", "stepIn": "helper", "stepOut": "call", "reverseContinue": "call"}
    assert lines(stop, *commands) == [at(label) for label in commands.values()]
    assert "This is the first line" not in client.output("console", "important")
    stop.resume()  # silently: both breakpoints have stopped before
    assert client.wait_for_end() == 0


@WITH_AND_WITHOUT_DEBUGPY
def test_instructions_go_back_too_and_the_first_line_is_the_end(client: DapClient, runtime: bool) -> None:
    client.launch(launch(runtime=runtime), {COMPILED: [at("first")]})
    stop = client.wait_for_stop()
    assert "This is the first line" in client.failure("stepBack", {"threadId": stop.thread_id})
    first = stop.frames(0, 1)[0].instruction_pointer_reference
    client.request("next", {"threadId": stop.thread_id, "granularity": "instruction"})
    stop = client.wait_for_stop()
    assert stop.frames(0, 1)[0].instruction_pointer_reference != first
    client.request("stepBack", {"threadId": stop.thread_id, "granularity": "instruction"})
    stop = client.wait_for_stop()
    assert stop.frames(0, 1)[0].instruction_pointer_reference == first


@pytest.mark.capability("supportsRestartFrame")
@WITH_AND_WITHOUT_DEBUGPY
def test_supports_restart_frame(client: DapClient, runtime: bool) -> None:
    client.launch(launch(runtime=runtime), {COMPILED: [at("helper")]})
    stop = client.wait_for_stop()
    inner, outer, *running = stop.frames()
    assert all(row.get("canRestart") is False for row in stop.stack_trace()["stackFrames"][2:]) and running
    client.request("restartFrame", {"frameId": outer.id})
    stop = client.wait_for_stop()
    assert stop.reason == "restart" and stop.where() == ("compiled [0/0]", at("first"))
    assert inner.id != stop.frames()[0].id
    assert "Only compile time goes back" in client.failure("restartFrame", {"frameId": stop.frames()[-1].id})


def test_the_buttons_are_there_where_they_work(client: DapClient) -> None:
    client.launch(launch(), {COMPILED: [at("call"), at("ran")]})
    stop = client.wait_for_stop()
    stop.resume()
    stop = client.wait_for_stop()
    assert not stop.at_compile_time
    changed = [event["body"]["capabilities"] for event in client.events if event["event"] == "capabilities"]
    changes = [capabilities for capabilities in changed if "supportsStepBack" in capabilities]
    assert changes == [{"supportsStepBack": False, "supportsRestartFrame": False}]
    for command, arguments in (
        ("stepBack", {"threadId": stop.thread_id}),
        ("reverseContinue", {"threadId": stop.thread_id}),
        ("restartFrame", {"frameId": stop.frames()[0].id}),
    ):
        assert client.failure(command, arguments).startswith("Only compile time goes back")


def traced_again(client: DapClient, runtime: bool, *arguments: str) -> Stop:
    """Go back in a compile that notices it."""
    wanted = {"program": str(AGAIN), "args": list(arguments), "redirectOutput": True, "runtime": runtime}
    client.launch(launch() | wanted, {AGAIN: [line(AGAIN, "last")]})
    stop = client.wait_for_stop()
    refusal = client.failure("stepBack", {"threadId": stop.thread_id})
    assert "the functions given to `comptime` would run, and print, again" in refusal
    stop.resume("stepBack")
    return stop


@WITH_AND_WITHOUT_DEBUGPY
def test_a_program_that_is_killed_while_it_goes_back(client: DapClient, runtime: bool) -> None:
    traced_again(client, runtime, "killed")
    client.wait_for_end()
    assert "result" not in client.output()


@pytest.mark.second_leg_only
@WITH_AND_WITHOUT_DEBUGPY
def test_an_interrupt_while_it_goes_back_reaches_the_program(client: DapClient, runtime: bool) -> None:
    traced_again(client, runtime, "interrupted")
    stop = client.wait_for_stop()  # in the compile after the interrupt
    assert stop.at_compile_time and stop.where()[1] == line(AGAIN, "last")
    stop.resume()
    assert client.wait_for_end() == 0
    assert "interrupted" in client.output() and "result again 12.0 1" in client.output()
    assert "KeyboardInterrupt ended this compile" in client.output("important")


@WITH_AND_WITHOUT_DEBUGPY
def test_a_client_that_leaves_while_it_goes_back(client: DapClient, runtime: bool, tmp_path: Path) -> None:
    traced_again(client, runtime, "waits", str(tmp_path / "go on"))
    client.wait_for_event("output", where=lambda body: "traced again" in body["output"])
    pid = client.wait_for_event("process")["body"]["systemProcessId"]
    process = psutil.Process(pid)
    client.request("disconnect", {"terminateDebuggee": True})
    process.wait(60)
