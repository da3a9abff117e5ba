"""The timeline by a client: its rows are places in the client's files, and `goto` leads to those of the compile."""

from __future__ import annotations

from typing import Any

from tests.support.dap.client import DapClient
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import line, program

COMPILED = program("compiled.py")


def timeline(client: DapClient, **more: Any) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = client.request("dynascopeTimeline", more)["events"]
    return events


@WITH_AND_WITHOUT_DEBUGPY
def test_the_events_of_a_session_and_the_way_back_to_one(client: DapClient, runtime: bool) -> None:
    client.launch(
        {"program": str(COMPILED), "console": "internalConsole", "subProcess": False, "runtime": runtime},
        {COMPILED: [line(COMPILED, "helper"), line(COMPILED, "after")]},
    )
    client.wait_for_stop().resume()
    stop = client.wait_for_stop()
    begun, first, second = timeline(client)
    assert [row["kind"] for row in (begun, first, second)] == ["compile", "stop", "stop"]
    assert begun["text"] == "Dynamo begins to compile compiled." and begun["compileId"] == "0/0"
    assert (first["source"]["path"], first["line"]) == (str(COMPILED), line(COMPILED, "helper"))
    assert timeline(client, count=1) == [second] and first["threadId"] == stop.thread_id
    client.request("goto", {"threadId": stop.thread_id, "targetId": first["targetId"]})
    stop = client.wait_for_stop()
    assert stop.reason == "goto" and stop.where() == ("helper [0/0]", line(COMPILED, "helper"))
    client.request("goto", {"threadId": stop.thread_id, "targetId": second["targetId"]})  # and forth again
    stop = client.wait_for_stop()
    assert stop.where() == ("compiled [0/0]", line(COMPILED, "after"))
    stop.resume()
    assert client.wait_for_end() == 0


def test_at_run_time_no_event_can_be_gone_to(client: DapClient) -> None:
    client.launch(
        {"program": str(COMPILED), "console": "internalConsole", "subProcess": False},
        {COMPILED: [line(COMPILED, "start"), line(COMPILED, "ran")]},
    )
    stop = client.wait_for_stop()
    assert timeline(client) == []
    stop.resume()
    client.wait_for_stop()
    assert [row["kind"] for row in timeline(client)] == ["compile", "compiled"]
    assert not any("targetId" in row for row in timeline(client))
