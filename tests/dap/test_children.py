"""Child processes, forked and spawned: each a session of its own, or left alone and said to be."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.backward.sessions import EAGER
from tests.support.dap.client import TIMEOUT, Body, DapClient, Stop
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import PROGRAMS, line, program

FORKING = program("forking.py")
UNDEBUGGED = program("undebugged_child.py")
WORKERS = program("workers.py")
LOADING = program("loading.py")
EMPTY = program("empty_environment.py")
CHILD = PROGRAMS / "never_hit" / "child.py"
WORKING = program("compile_workers.py")
SPAWNED_RANKS = program("spawned_ranks.py")


def launch(path: Path, **more: Any) -> dict[str, Any]:
    return {"program": str(path), "console": "internalConsole", "redirectOutput": True} | more


class Family:
    """A client that starts a session for each child, as an editor does; all of them stop at the same lines."""

    def __init__(self, spawn: Callable[..., DapClient], path: Path, *lines: int | Body) -> None:
        self.stops: list[tuple[bool, str]] = []
        """Of the children: whether at compile time, and the innermost frame."""
        self.ranks: list[int] = []
        """The numbers that children have told."""
        self._spawn, self._lines = spawn, {path: lines}
        self._children: list[threading.Thread] = []
        self.parent = self._new()

    def _new(self) -> DapClient:
        client = self._spawn()
        client.handlers["startDebugging"] = self._start
        client.initialize(supportsStartDebuggingRequest=True)
        return client

    def _start(self, arguments: Body) -> Body:
        thread = threading.Thread(target=self._follow, args=(self._new(), arguments["configuration"]), daemon=True)
        self._children.append(thread)
        thread.start()
        return {}

    def _follow(self, child: DapClient, configuration: Body) -> None:
        child.attach(configuration, self._lines)
        while (event := child.wait_for_event("stopped", "terminated"))["event"] == "stopped":
            stop = Stop(child, event["body"])
            self.stops.append((stop.at_compile_time, stop.where()[0]))
            stop.resume()
        self.ranks += [each["body"]["rank"] for each in child.events if each["event"] == "dynascopeRank"]

    def launch(self, configuration: Body) -> list[str]:
        """Run to the end through all of the parent's own stops: where those were."""
        self.parent.launch(configuration, self._lines)
        seen = []
        while (event := self.parent.wait_for_event("stopped", "terminated"))["event"] == "stopped":
            stop = Stop(self.parent, event["body"])
            seen.append(stop.where()[0])
            stop.resume()
        for thread in self._children:
            thread.join(TIMEOUT)
            assert not thread.is_alive(), self.parent.transcript()
        return seen


def test_a_forked_child_that_compiles_is_a_session_of_its_own(spawn: Callable[..., DapClient]) -> None:
    family = Family(spawn, FORKING, line(FORKING, "traced"))
    seen = family.launch(launch(FORKING))
    assert seen == ["function [0/0]"] * 2 and family.stops == [(True, "function [0/0]")]
    output = family.parent.output("stdout")
    assert "parent 9.0 7" in output


def test_ranks_that_python_spawns_tell_their_numbers(spawn: Callable[..., DapClient]) -> None:
    family = Family(spawn, SPAWNED_RANKS, line(SPAWNED_RANKS, "traced"))
    family.launch(launch(SPAWNED_RANKS))
    assert family.stops == [(True, "step [0/0]")] * 2 and sorted(family.ranks) == [0, 1]
    output = family.parent.output("stdout")
    assert "rank 0 -> 6.0" in output and "rank 1 -> 6.0" in output


ENDED_ALONE = """\
import subprocess
import sys

CHILD = "import time; print('a child waits', flush=True); time.sleep(1000)"
code = subprocess.call([sys.executable, "-c", CHILD])
print("it ended with", code, flush=True)
"""


def test_a_child_is_ended_alone_and_writes_once(spawn: Callable[..., DapClient], tmp_path: Path) -> None:
    """A child, as a rank that waits for another, runs no Python that pydevd could end."""
    (tmp_path / "parent.py").write_text(ENDED_ALONE)
    parent, child = spawn(), spawn()
    attached = threading.Event()

    def start(arguments: Body) -> Body:
        threading.Thread(target=lambda: (child.attach(arguments["configuration"]), attached.set()), daemon=True).start()
        return {}

    parent.handlers["startDebugging"] = start
    parent.initialize(supportsStartDebuggingRequest=True)
    parent.launch(launch(tmp_path / "parent.py"))
    parent.wait_for_output("a child waits")
    assert attached.wait(TIMEOUT)
    child.request("terminate")
    child.wait_for_event("terminated")
    assert parent.wait_for_end() == 0
    # debugpy may be first, with a code of its own
    assert re.fullmatch("a child waits\nit ended with (-15|-9|0|1)\n", parent.output("stdout"))
    assert child.output("stdout") == ""


@WITH_AND_WITHOUT_DEBUGPY
def test_a_forked_child_without_a_session_of_its_own_runs_on(client: DapClient, runtime: bool) -> None:
    client.launch(launch(FORKING, runtime=runtime), {FORKING: [line(FORKING, "traced")]})
    for _ in range(2):
        stop = client.wait_for_stop()
        assert stop.where()[0] == "function [0/0]"
        stop.resume()
    assert client.wait_for_end() == 0
    assert "parent 9.0 7" in client.output("stdout")
    why = "this client starts no sessions" if runtime else "only this process is."
    console = client.output("console")
    assert console.count("is not debugged, nor are later ones: ") == 1 and why in console


def test_a_forked_child_that_debugpy_does_not_follow_stops_nowhere(client: DapClient) -> None:
    lines = [line(UNDEBUGGED, "traced"), line(UNDEBUGGED, "called")]
    client.launch(launch(UNDEBUGGED, subProcess=False), {UNDEBUGGED: lines})
    seen = []
    while (event := client.wait_for_event("stopped", "terminated"))["event"] == "stopped":
        seen.append(Stop(client, event["body"]).where()[0])
        if len(seen) == 1:
            ended = client.output("stdout").split("\n")[:2]
            # the child's compile is no news of the parent's breakpoint
            said = [
                each["body"]["breakpoint"].get("message", "") for each in client.events if each["event"] == "breakpoint"
            ]
            assert not [each for each in said if "Compiled already" in each], client.transcript()
        Stop(client, event["body"]).resume()
    assert ended == ["child", "child's thread"]
    assert seen == ["traced [0/0]", "called", "called"]
    assert "with `subProcess` false, as at the prompt, only this process is." in client.output("console")


@pytest.mark.parametrize("how", ["fork", pytest.param("spawn", marks=pytest.mark.matrix)])
def test_children_of_multiprocessing_stop_in_their_own_compiles(spawn: Callable[..., DapClient], how: str) -> None:
    family = Family(spawn, WORKERS, line(WORKERS, "traced"))
    assert family.launch(launch(WORKERS, args=[how])) == ["function [0/0]"]
    assert family.stops == [(True, "function [0/1]" if how == "fork" else "function [0/0]")]
    assert "sums 4.0" in family.parent.output("stdout")


def test_a_loader_with_workers_beside_a_compiled_model(spawn: Callable[..., DapClient]) -> None:
    family = Family(spawn, LOADING, line(LOADING, "traced"))
    assert family.launch(launch(LOADING)) == ["Model.forward [0/0]"]
    assert family.stops == []
    assert "batches 2" in family.parent.output("stdout")


@pytest.mark.matrix
def test_a_child_with_an_empty_environment_is_a_session_too(spawn: Callable[..., DapClient]) -> None:
    family = Family(spawn, CHILD, line(CHILD, "compiled"))
    assert family.launch(launch(EMPTY, args=["env={}"])) == []
    assert family.stops == [(True, "compiled [0/0]")]


@pytest.mark.matrix
@WITH_AND_WITHOUT_DEBUGPY
def test_a_child_behind_another_command_is_said_to_be_undebugged(client: DapClient, runtime: bool) -> None:
    client.initialize(supportsStartDebuggingRequest=True)
    client.launch(launch(EMPTY, args=["env -i"], runtime=runtime), {CHILD: [line(CHILD, "compiled")]})
    assert client.wait_for_end() == 0
    assert "child 6.0\nparent ends" in client.output("stdout")
    console = client.output("console")
    why = "this one begins with env." if runtime else "without debugpy (`runtime` is false)"
    assert console.count("a child process was started and is not debugged") == 1 and why in console
    unfollowed = " (what `env` starts is not debugged)" if runtime else ""
    assert f"Its file was never imported in this process, which started others{unfollowed}." in console


@pytest.mark.matrix
def test_a_child_inherits_compiled_autograd(spawn: Callable[..., DapClient]) -> None:
    family = Family(spawn, EAGER, {"line": line(EAGER, "forward"), "mode": "backward"})
    code = f"import subprocess, sys; print(subprocess.call([sys.executable, {str(EAGER)!r}]))"
    family.launch({"code": code, "console": "internalConsole", "redirectOutput": True, "compiledAutograd": "eager"})
    assert (False, "AddmmBackward0 [!0 NodeCall 2]") in family.stops


@pytest.mark.parametrize(
    ("method", "starts_sessions", "pool", "debugger"),
    [
        pytest.param("subprocess", True, "SubprocPool", "False", marks=pytest.mark.matrix),
        pytest.param("subprocess", False, "SubprocPool", "False", marks=pytest.mark.matrix),
        ("fork", True, "TrackedProcessPoolExecutor", "None"),  # pydevd's modules are there, and no debugger
        pytest.param("spawn", True, "TrackedProcessPoolExecutor", "False", marks=pytest.mark.matrix),
    ],
)
def test_inductors_compile_workers_are_left_alone(
    client: DapClient, method: str, starts_sessions: bool, pool: str, debugger: str
) -> None:
    asked: list[Body] = []
    client.handlers["startDebugging"] = lambda arguments: asked.append(arguments) or {}
    client.initialize(supportsStartDebuggingRequest=starts_sessions)
    client.launch(launch(WORKING, args=[method]))
    assert client.wait_for_end() == 0
    assert client.output("stdout").split() == [pool, debugger, "False"]
    assert asked == [] and "not debugged" not in client.output("console")
