"""Programs with several threads that compile: a pool of them, backwards on threads, one thread resumed alone."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import pytest

from tests.support.dap.client import TIMEOUT, DapClient, Stop
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import line, program

pytestmark = pytest.mark.second_leg

PAIR = program("pair.py")
POOL = program("pool.py")
BACKWARDS = program("backward_threads.py")
WAITING = program("waiting.py")
ENGINE = program("engine_thread.py")
ENDED = program("ended_threads.py")


def launch(path: Any, **more: Any) -> dict[str, Any]:
    return {"program": str(path), "console": "internalConsole", "redirectOutput": True, "subProcess": False} | more


@pytest.mark.second_leg_only
@WITH_AND_WITHOUT_DEBUGPY
def test_each_thread_of_a_pool_stops_in_its_compile(client: DapClient, runtime: bool) -> None:
    client.launch(launch(POOL, runtime=runtime), {POOL: [line(POOL, "traced")]})
    seen = {}
    for _ in range(4):
        stop = client.wait_for_stop()
        assert stop.at_compile_time and stop.where() == (stop.frames()[0].name, line(POOL, "traced"))
        seen[stop.thread_id] = stop.evaluate("number").result
        stop.resume()
    assert sorted(seen.values()) == ["0", "1", "2", "3"]
    assert client.wait_for_end() == 0
    assert "sums 2.0 4.0 6.0 8.0" in client.output("stdout")


@pytest.mark.second_leg_only
@WITH_AND_WITHOUT_DEBUGPY
def test_backwards_on_threads_stop_at_their_nodes(client: DapClient, runtime: bool) -> None:
    client.launch(launch(BACKWARDS, runtime=runtime, compiledAutograd="eager"), functions=["SinBackward0"])
    stop = client.wait_for_stop()
    assert stop.description == "Paused in a backward"
    assert next(thread.name for thread in client.threads() if thread.id == stop.thread_id) == "One"
    assert stop.where() == ("SinBackward0 [!0 NodeCall 2]", line(BACKWARDS, "forward"))
    assert "step" in [frame.name for frame in stop.frames()]
    stop = stop.step("next")
    assert stop.where()[0] == "MmBackward0 [!0 NodeCall 3]"
    stop.resume()
    assert client.wait_for_end() == 0  # the second is served by the graph of the first
    assert "the end" in client.output("stdout")


@pytest.mark.second_leg_only
@WITH_AND_WITHOUT_DEBUGPY
def test_a_thread_of_the_autograd_engine_stops_in_its_compile(client: DapClient, runtime: bool) -> None:
    client.launch(launch(ENGINE, runtime=runtime), {ENGINE: [line(ENGINE, "first")]})
    stop = client.wait_for_stop()
    assert stop.at_compile_time and stop.locals()["gradient"].value == "f32[2]"
    assert "backward" in [frame.name for frame in stop.frames()]
    assert stop.step("next").where() == ("compiled [0/0]", line(ENGINE, "second"))
    stop.resume()
    assert client.wait_for_end() == 0
    assert "on _DummyThread [3.0, 3.0]" in client.output("stdout")


@pytest.mark.parametrize("arguments", [[], pytest.param(["logs"], marks=pytest.mark.matrix)], ids=["plain", "logs"])
def test_threads_that_finalize_objects_after_their_end_are_told_apart(client: DapClient, arguments: list[str]) -> None:
    lines = [line(ENDED, label) for label in ("finalized", "traced", "runs")]
    client.launch(launch(ENDED, args=arguments), {ENDED: lines})
    stopped_on = []
    while (event := client.wait_for_event("stopped", "terminated"))["event"] == "stopped":
        stop = Stop(client, event["body"])
        stopped_on.append(stop.thread_id)
        assert stop.thread_id in {thread.id for thread in client.threads()}
        for scope in stop.scopes().values():
            assert stop.variables(scope.variables_reference) or scope.name not in ("Locals", "Globals")
        stop.resume()
    assert len(set(stopped_on)) == 3
    alone = subprocess.run([sys.executable, ENDED, *arguments], capture_output=True, text=True, check=True)
    assert client.output("stdout") == alone.stdout


def stopped_counter(client: DapClient) -> int:
    """The count of the other thread, once that thread has stopped too."""
    counter = next(thread.id for thread in client.threads() if thread.name == "Counter")
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        frames = client.request("stackTrace", {"threadId": counter})["stackFrames"]
        frame = next((frame["id"] for frame in frames if frame["name"] == "count"), None)
        answer = client.send("evaluate", {"expression": "counted[0]", "frameId": frame, "context": "watch"}).response()
        if answer["success"]:
            return int(answer["body"]["result"])
    raise TimeoutError(client.transcript())


@pytest.mark.second_leg_only
def test_a_thread_that_runs_on_is_neither_stepped_nor_read(client: DapClient) -> None:
    client.launch(launch(PAIR), {PAIR: [line(PAIR, "first")]})
    stop = client.wait_for_stop()
    main = next(thread.id for thread in client.threads() if thread.name == "MainThread")
    assert "not stopped" in client.failure("next", {"threadId": main})
    assert "not stopped" in client.failure("exceptionInfo", {"threadId": main})  # debugpy would keep us waiting
    frame = client.request("stackTrace", {"threadId": main})["stackFrames"][0]
    scope = client.request("scopes", {"frameId": frame["id"]})["scopes"][0]
    assert "not stopped" in client.failure("variables", {"variablesReference": scope["variablesReference"]})
    assert stop.step("next").where() == ("compiled [0/0]", line(PAIR, "second"))


@pytest.mark.second_leg_only
@pytest.mark.capability("supportsSingleThreadExecutionRequests")
def test_supports_single_thread_execution_requests(client: DapClient) -> None:
    """Steps and `continue` with `singleThread`, at compile time and at run time: the counter does not count on."""
    client.launch(launch(PAIR), {PAIR: [line(PAIR, mark) for mark in ("first", "ran")]})
    stop = client.wait_for_stop()
    counted = stopped_counter(client)

    def alone(command: str) -> Stop:
        client.request(command, {"threadId": stop.thread_id, "singleThread": True})
        here = client.wait_for_stop()
        assert here.thread_id == stop.thread_id and stopped_counter(client) == counted
        return here

    assert alone("next").where() == ("compiled [0/0]", line(PAIR, "second"))
    body = client.request("continue", {"threadId": stop.thread_id, "singleThread": True})
    assert body == {"allThreadsContinued": False}
    stop = client.wait_for_stop()
    assert stop.where() == ("compile_and_run", line(PAIR, "ran")) and stopped_counter(client) == counted
    assert alone("next").where() == ("compile_and_run", line(PAIR, "after"))
    assert not [event for event in client.events if (event.get("body") or {}).get("allThreadsContinued")]
    assert client.request("continue", {"threadId": stop.thread_id})["allThreadsContinued"]
    assert client.wait_for_end() == 0


@pytest.mark.second_leg_only
@WITH_AND_WITHOUT_DEBUGPY
def test_a_thread_that_has_gone_on_alone_leaves_the_others_to_continue(client: DapClient, runtime: bool) -> None:
    client.launch(launch(PAIR, runtime=runtime), {PAIR: [line(PAIR, "second")]})
    stop = client.wait_for_stop()
    if runtime:
        counted = stopped_counter(client)
    counter = next(thread.id for thread in client.threads() if thread.name == "Counter")
    body = client.request("continue", {"threadId": stop.thread_id, "singleThread": True})
    assert body["allThreadsContinued"] is False
    if runtime:
        assert stopped_counter(client) == counted
        assert "not stopped" in client.failure("next", {"threadId": 12345, "singleThread": True})
        client.request("continue", {"threadId": counter})
    assert client.wait_for_end() == 0


@pytest.mark.second_leg_only
def test_a_thread_that_waits_for_one_that_goes_on_alone_stops_where_its_compile_begins(client: DapClient) -> None:
    """It was asked to stop with the first, and could not while it waited."""
    lines = [line(WAITING, mark) for mark in ("first", "second")]
    client.launch(launch(WAITING), {WAITING: lines}, initialize={"supportsInvalidatedEvent": True})
    stop = client.wait_for_stop()
    told = client.wait_for_event("output", where=lambda body: "waits for Dynamo's compile lock" in body["output"])
    here, stopped_at = stop.where()
    assert (told["body"]["source"]["path"], told["body"]["line"]) == (str(WAITING), stopped_at)
    client.request("continue", {"threadId": stop.thread_id, "singleThread": True})
    event = client.wait_for_event("invalidated", where=lambda body: body["areas"] == ["stacks"])
    other = Stop(client, {"reason": "pause", **event["body"]})
    assert other.thread_id != stop.thread_id
    assert {name.partition(" ")[0] for name in (here, other.where()[0])} == {"first", "second"}
    while True:
        client.request("continue", {"threadId": other.thread_id})
        if client.wait_for_event("stopped", "terminated")["event"] == "terminated":
            break
    assert "was never hit" not in client.output("console"), client.output("console")
    assert "both" in client.output("stdout")


@pytest.mark.second_leg_only
@WITH_AND_WITHOUT_DEBUGPY
def test_a_pause_that_takes_long_shows_where_the_thread_is(client: DapClient, runtime: bool) -> None:
    hanging = program("hanging.py")
    client.launch({"program": str(hanging), "console": "internalConsole", "runtime": runtime, "redirectOutput": True})
    client.wait_for_event("output", where=lambda body: "hanging" in body["output"])
    (thread,) = [one for one in client.request("threads")["threads"] if one["name"] == "MainThread"]
    client.request("pause", {"threadId": thread["id"]})
    event = client.wait_for_event("output", where=lambda body: "has not paused" in body["output"])
    assert f"called at hanging.py:{line(hanging, 'hangs')} in hang" in event["body"]["output"]
