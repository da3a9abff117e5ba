"""What a compile does is told where it is paused, and `dynascope top` sees that a debugger has stopped it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from dynascope.cli import main

from tests.support.dap.client import DapClient
from tests.support.marks import line, program

pytestmark = pytest.mark.second_leg

SLOW = program("slow_backend.py")
DOING = f"the backend slow_backend compiles the graph that ends at slow_backend.py:{line(SLOW, 'ends')}, in step [0/0]"


def launch(ready: Path, **more: Any) -> dict[str, Any]:
    about = {"program": str(SLOW), "args": [str(ready)], "console": "internalConsole", "redirectOutput": True}
    return about | {"subProcess": False} | more


def pause_while_compiling(client: DapClient) -> None:
    client.wait_for_event("output", where=lambda body: "compiling" in body["output"])
    (thread,) = [one for one in client.request("threads")["threads"] if one["name"] == "MainThread"]
    client.request("pause", {"threadId": thread["id"]})


@pytest.mark.skipif(sys.version_info < (3, 12), reason="debugpy traces no thread that compiles")
def test_a_pause_in_a_backend_says_what_it_compiles(client: DapClient, tmp_path: Path) -> None:
    client.launch(launch(tmp_path / "ready"))
    pause_while_compiling(client)
    stop = client.wait_for_stop()
    assert stop.body["reason"] == "pause"
    assert (stop.body["text"], stop.body["description"]) == (f"It was paused while {DOING}.", f"Paused while {DOING}")
    (tmp_path / "ready").touch()
    stop.resume()
    assert client.wait_for_end() == 0


@pytest.mark.second_leg_only
@pytest.mark.parametrize("runtime", [False] if sys.version_info >= (3, 12) else [True, False])
def test_a_pause_that_must_wait_for_a_backend_says_so(client: DapClient, tmp_path: Path, runtime: bool) -> None:
    client.launch(launch(tmp_path / "ready", runtime=runtime))
    pause_while_compiling(client)
    said = client.wait_for_event("output", where=lambda body: "has not paused" in body["output"])["body"]["output"]
    assert f"MainThread has not paused: {DOING}. It stops at the next line that Dynamo traces or your program " in said
    (tmp_path / "ready").touch()
    if runtime:
        client.wait_for_stop().resume()
    assert client.wait_for_end() == 0


@pytest.mark.matrix
@pytest.mark.real_processes
def test_top_tells_that_a_debugger_has_stopped_a_compile(client: DapClient, tmp_path: Path) -> None:
    (tmp_path / "ready").touch()
    client.launch(launch(tmp_path / "ready"), {SLOW: [line(SLOW, "traced")]})
    stop = client.wait_for_stop()
    pid = next(event["body"]["systemProcessId"] for event in client.events if event["event"] == "process")
    looks = [CliRunner().invoke(main, ["top", "--json", str(pid)], catch_exceptions=False).output for _ in range(2)]
    first, second = (process["compiles"] for (process,) in map(json.loads, looks))
    assert first[0]["at"]["line"] == line(SLOW, "traced")
    assert second[0]["stopped"] > first[0]["stopped"] > 0 and second[0]["seconds"] == first[0]["seconds"]
    stop.resume()
    assert client.wait_for_end() == 0
