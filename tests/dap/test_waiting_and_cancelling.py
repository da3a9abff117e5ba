"""Long looks and long compiles: cancelled, shown as progress; stale views; threads that wait for each other."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.dap.client import DapClient
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import line, program

COMPILED = program("compiled.py")
WAITING = program("waiting.py")
SLOW = program("slow_compile.py")
PAIR = program("pair.py")
FOREVER = "[i for i in iter(int, 1) if i]"
LOCKED = (
    "import functools, operator, sys, threading; lock = threading.Lock(); lock.acquire(); "
    "[*map(operator.call, [functools.partial(sys.__stderr__.write, 'waits\\n'), lock.acquire])]"
)
"""Waits in C, where nothing of Python's is raised; between saying so and waiting there is no Python either."""
SHOWS_PROGRESS = {"supportsProgressReporting": True}


def launch(path: Any, **more: Any) -> dict[str, Any]:
    return {"program": str(path), "console": "internalConsole", "subProcess": False} | more


@pytest.mark.capability("supportsCancelRequest")
@WITH_AND_WITHOUT_DEBUGPY
@pytest.mark.parametrize("expression", [FOREVER, pytest.param(LOCKED, marks=pytest.mark.matrix)])
def test_supports_cancel_request(client: DapClient, runtime: bool, expression: str) -> None:
    """An expression without an end is ended on the stopped thread, which serves the next request at once."""
    client.launch(launch(COMPILED, runtime=runtime), {COMPILED: [line(COMPILED, "helper")]})
    stop = client.wait_for_stop()
    wanted = {"expression": expression, "frameId": stop.frames()[0].id, "context": "repl"}
    endless = client.send("evaluate", wanted)
    client.request("cancel", {"requestId": endless.seq})
    assert endless.response()["message"] == "cancelled"
    assert stop.evaluate("q").result == "f32[2, 3]"
    assert f"Request {endless.seq} has ended" in client.failure("cancel", {"requestId": endless.seq})
    stop.resume()
    assert client.wait_for_end() == 0


@WITH_AND_WITHOUT_DEBUGPY
@pytest.mark.parametrize(
    "expression",
    [f"(__import__('sys').__stderr__.write('waits\\n'), {FOREVER})", pytest.param(LOCKED, marks=pytest.mark.matrix)],
)
def test_a_thread_goes_on_through_an_expression_without_an_end(
    client: DapClient, runtime: bool, expression: str
) -> None:
    client.launch(launch(COMPILED, runtime=runtime, redirectOutput=True), {COMPILED: [line(COMPILED, "helper")]})
    stop = client.wait_for_stop()
    frame = stop.frames()[0].id
    endless = client.send("evaluate", {"expression": expression, "frameId": frame, "context": "repl"})
    client.wait_for_event("output", where=lambda body: "waits" in body["output"])
    late = client.send("evaluate", {"expression": "q", "frameId": frame, "context": "repl"})
    stop.resume()
    assert endless.response()["message"] == "cancelled"
    assert late.response()
    assert client.wait_for_end() == 0


@WITH_AND_WITHOUT_DEBUGPY
def test_what_cannot_be_cancelled_is_said_instead_of_silence(client: DapClient, runtime: bool) -> None:
    """Only the main thread takes signals: on another a wait for a lock has no end but its own."""
    client.launch(launch(PAIR, runtime=runtime, redirectOutput=True), {PAIR: [line(PAIR, "first")]})
    stop = client.wait_for_stop()
    wanted = {"expression": LOCKED, "frameId": stop.frames()[0].id, "context": "repl"}
    endless, other = client.send("evaluate", wanted), client.send("scopes", {"frameId": wanted["frameId"]})
    client.wait_for_event("output", where=lambda body: "waits" in body["output"])
    client.request("cancel", {"requestId": endless.seq})
    assert endless.response()["message"] == "cancelled"
    client.wait_for_event("output", where=lambda body: "outside of Python" in body["output"])
    assert "lock.acquire])]`, which waits outside of Python" in other.response()["message"]
    assert "waits outside of Python" in client.failure("scopes", {"frameId": wanted["frameId"]})
    assert stop.resume()["allThreadsContinued"] is runtime
    client.request("disconnect", {"terminateDebuggee": True})


def test_a_request_that_waits_for_another_is_cancelled_before_it_begins(client: DapClient) -> None:
    client.launch(launch(COMPILED), {COMPILED: [line(COMPILED, "helper")]})
    stop = client.wait_for_stop()
    wanted = {"expression": FOREVER, "frameId": stop.frames()[0].id, "context": "watch"}
    first, second = client.send("evaluate", wanted), client.send("evaluate", wanted)
    client.request("cancel", {"requestId": second.seq})
    client.request("cancel", {"requestId": first.seq})
    assert [each.response()["message"] for each in (first, second)] == ["cancelled", "cancelled"]
    assert stop.evaluate("q").result == "f32[2, 3]"


def test_a_long_look_shows_progress_and_is_cancelled_by_it(client: DapClient) -> None:
    client.launch(launch(COMPILED, runtime=False), {COMPILED: [line(COMPILED, "helper")]}, initialize=SHOWS_PROGRESS)
    stop = client.wait_for_stop()
    endless = client.send("evaluate", {"expression": FOREVER, "frameId": stop.frames()[0].id})
    started = client.wait_for_event("progressStart", where=lambda body: body.get("requestId") == endless.seq)["body"]
    assert started["cancellable"] and "evaluate" in started["title"]
    client.request("cancel", {"progressId": started["progressId"]})
    assert endless.response()["message"] == "cancelled"
    client.wait_for_event("progressEnd", where=lambda body: body["progressId"] == started["progressId"])
    assert "cannot be cancelled" in client.failure("cancel", {"progressId": "nobody"})


@WITH_AND_WITHOUT_DEBUGPY
def test_a_long_compile_shows_its_phases(client: DapClient, runtime: bool) -> None:
    client.launch(launch(SLOW, runtime=runtime), initialize=SHOWS_PROGRESS)
    started = client.wait_for_event("progressStart")["body"]
    assert started["title"] == "torch.compile: slow" and not started["cancellable"]
    client.wait_for_event("progressUpdate", where=lambda body: body["message"].startswith("backend compiles slow:"))
    client.wait_for_event("progressEnd", where=lambda body: body["progressId"] == started["progressId"])
    assert client.wait_for_end() == 0


@pytest.mark.matrix
def test_a_client_that_shows_no_progress_gets_none(client: DapClient) -> None:
    client.launch(launch(SLOW))
    assert client.wait_for_end() == 0
    assert not [event for event in client.events if event["event"].startswith("progress")]


@WITH_AND_WITHOUT_DEBUGPY
def test_a_console_statement_invalidates_the_variables(client: DapClient, runtime: bool) -> None:
    client.launch(
        launch(COMPILED, runtime=runtime),
        {COMPILED: [line(COMPILED, "helper")]},
        initialize={"supportsInvalidatedEvent": True},
    )
    stop = client.wait_for_stop()
    stop.evaluate("q.shape")
    stop.evaluate("twice = q * 2")
    body = client.wait_for_event("invalidated")["body"]
    assert body["areas"] == ["variables"] and body["threadId"] == stop.thread_id
    assert stop.evaluate("twice").result == "f32[2, 3]"
    assert not [event for event in client.events if event["event"] == "invalidated"]


@WITH_AND_WITHOUT_DEBUGPY
def test_a_thread_that_waits_for_a_stopped_one_says_so(client: DapClient, runtime: bool) -> None:
    lines = [line(WAITING, "first"), line(WAITING, "second")]
    client.launch(launch(WAITING, runtime=runtime), {WAITING: lines}, initialize={"supportsInvalidatedEvent": True})
    stop = client.wait_for_stop()
    here = next(thread.name for thread in client.threads() if thread.id == stop.thread_id)
    function = stop.where()[0].partition(" ")[0]
    why = f"waits for Dynamo's compile lock, held by {here}, which is stopped in {function}"
    client.wait_for_event("output", where=lambda body: why in body["output"])
    client.wait_for_event("invalidated", where=lambda body: body["areas"] == ["threads"])
    other = next(thread for thread in client.threads() if why in thread.name)
    assert other.name == f"{'Two' if here == 'One' else 'One'} ({why})"
    for command in ("next", "stepIn", "stepOut"):
        assert f"cannot step: it {why}" in client.failure(command, {"threadId": other.id})
    client.request("pause", {"threadId": other.id})
    client.wait_for_event("output", where=lambda body: "cannot pause now" in body["output"])
    while stop.thread_id != other.id:  # without debugpy a pause is every thread's
        stop.resume()
        stop = client.wait_for_stop()
    assert not [thread for thread in client.threads() if "waits" in thread.name]
    client.request("disconnect", {"terminateDebuggee": True})
