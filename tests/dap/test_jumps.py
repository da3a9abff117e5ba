"""Jump to Cursor at compile time: back to where a line began last; and debugpy's own at run time."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.dap.client import DapClient, Stop
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import line, program

COMPILED = program("compiled.py")


def launch(**more: Any) -> dict[str, Any]:
    return {"program": str(COMPILED), "console": "internalConsole", "subProcess": False} | more


def at(label: str) -> int:
    return line(COMPILED, label)


def wanted(number: int) -> dict[str, Any]:
    return {"source": {"path": str(COMPILED)}, "line": number}


def jump(stop: Stop, number: int) -> Stop:
    [target] = stop.client.request("gotoTargets", wanted(number))["targets"]
    stop.client.request("goto", {"threadId": stop.thread_id, "targetId": target["id"]})
    return stop.client.wait_for_stop()


@pytest.mark.capability("supportsGotoTargetsRequest")
@WITH_AND_WITHOUT_DEBUGPY
def test_supports_goto_targets(client: DapClient, runtime: bool) -> None:
    client.launch(launch(runtime=runtime), {COMPILED: [at("helper"), at("after")]})
    stop = client.wait_for_stop()
    shown = {name: row.value for name, row in stop.locals().items()}
    stop.resume()
    stop = client.wait_for_stop()
    stop = jump(stop, at("helper"))  # in a function that Dynamo has left by now
    assert stop.reason == "goto" and stop.where() == ("helper [0/0]", at("helper"))
    assert {name: row.value for name, row in stop.locals().items()} == shown
    stop = jump(stop, at("first"))
    assert stop.where() == ("compiled [0/0]", at("first"))
    assert "has not begun line" in client.failure("gotoTargets", wanted(at("after")))
    assert "Run to Cursor" in client.failure("gotoTargets", wanted(at("first")))  # it begins here, and not before
    stop = stop.step("next")
    assert stop.where() == ("compiled [0/0]", at("call"))
    stop.resume()  # silently: both breakpoints have stopped before
    assert client.wait_for_end() == 0


def test_a_jump_to_a_line_without_code_leads_to_the_next_that_has_some(client: DapClient) -> None:
    client.launch(launch(), {COMPILED: [at("after")]})
    stop = client.wait_for_stop()
    assert "has not begun" in client.failure("gotoTargets", wanted(at("after") - 1))  # the blank line before it
    assert client.failure("gotoTargets", {"source": {"sourceReference": 1}, "line": 1}).startswith("Only lines of a")
    [target] = client.request("gotoTargets", wanted(at("first")))["targets"]
    assert (target["line"], target["label"]) == (at("first"), f"line {at('first')} of compiled")
    assert "no way to that place" in client.failure(
        "goto", {"threadId": stop.thread_id, "targetId": target["id"] + 100_000}
    )


def test_at_run_time_a_jump_is_debugpys(client: DapClient) -> None:
    client.launch(launch(), {COMPILED: [at("call"), at("ran")]})
    stop = client.wait_for_stop()
    assert "choose it again" in client.failure("goto", {"threadId": stop.thread_id, "targetId": 1})
    [back] = client.request("gotoTargets", wanted(at("first")))["targets"]
    stop.resume()
    stop = client.wait_for_stop()
    assert not stop.at_compile_time
    late = client.failure("goto", {"threadId": stop.thread_id, "targetId": back["id"]})
    assert late.startswith("Only compile time goes back")
    stop = jump(stop, at("compile"))
    assert stop.where() == ("caller", at("compile"))
