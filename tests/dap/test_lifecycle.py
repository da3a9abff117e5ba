"""Launching in its variants, restart and terminate, terminals, child processes."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.dap.client import Body, DapClient, RequestFailed, Stop
from tests.support.dap.ranks import RankSessions
from tests.support.debugpy import DEBUGPY
from tests.support.fork_server import search_path
from tests.support.marks import line, program

COMPILED = program("compiled.py")
PARENT = program("parent.py")
PLAIN = program("plain.py")
INDUCTOR = program("inductor.py")
RANKS = program("ranks.py")
BOTH = pytest.mark.parametrize("runtime", DEBUGPY)


def launch(path: Path, **more: Any) -> Body:
    return {"program": str(path), "console": "internalConsole", "subProcess": False, "redirectOutput": True} | more


@BOTH
def test_arguments_output_and_exit_code(client: DapClient, runtime: bool, tmp_path: Path) -> None:
    client.launch(launch(PLAIN, runtime=runtime, args=["a b", "-x"], cwd=str(tmp_path)))
    assert client.wait_for_end() == 3
    assert client.output("stdout") == "arguments ['a b', '-x']\nresult 3\n"
    assert client.output("stderr") == "on stderr\n"
    assert any(event["event"] == "process" for event in client.events)


@pytest.mark.matrix
@BOTH
def test_a_relative_program_is_found_from_cwd_and_outlives_a_chdir(
    spawn: Callable[..., DapClient], runtime: bool, tmp_path: Path
) -> None:
    file = tmp_path / "below" / "moves.py"
    file.parent.mkdir()
    file.write_text("import os, sys\nprint(__file__, sys.path[0])\nos.chdir('/')\nprint(os.path.exists(__file__))\n")
    for folder, told in (
        (tmp_path, {"program": "below/moves.py"}),
        (tmp_path, {"program": "moves.py", "cwd": "below"}),
        (file.parent, {"program": "moves.py"}),
    ):
        client = spawn(folder=folder)
        placed = client.launch({"console": "internalConsole", "runtime": runtime, **told}, {file: [4]})
        if runtime:
            stop = client.wait_for_stop()
            assert stop.hit_breakpoint_ids == [placed[file][0].id]
            stop.resume()
        assert client.wait_for_end() == 0
        assert client.output("stdout") == f"{file} {file.parent}\nTrue\n"


def test_arguments_in_one_string_are_split_as_a_shell_would(client: DapClient) -> None:
    client.launch(launch(PLAIN, runtime=False, args="'a b' -x"))
    assert client.wait_for_end() == 3
    assert client.output("stdout").startswith("arguments ['a b', '-x']")


@BOTH
def test_a_module_and_code(spawn: Callable[..., DapClient], runtime: bool, tmp_path: Path) -> None:
    (tmp_path / "told.py").write_text("import os, sys; print(__name__, sys.argv[1:], os.environ['GREETING'])")
    rest = {"runtime": runtime, "console": "internalConsole", "cwd": str(tmp_path), "env": {"GREETING": "hi"}}
    client = spawn()
    client.launch({"module": "told", "args": ["1"], **rest})
    assert client.wait_for_end() == 0
    assert client.output("stdout").strip() == "__main__ ['1'] hi"
    client = spawn()
    client.launch({"code": ["import os", "print(__name__, os.environ['GREETING'])"], **rest})
    assert client.wait_for_end() == 0
    # debugpy runs `code` in a module of another name
    assert client.output("stdout").strip() == ("builtins hi" if runtime else "__main__ hi")


@BOTH
def test_no_debug_runs_the_program_alone(client: DapClient, runtime: bool) -> None:
    client.initialize()
    client.request("launch", launch(PLAIN, runtime=runtime, noDebug=True))
    assert client.wait_for_end() == 3
    assert "result 3" in client.output("stdout")


@pytest.mark.capability("supportsRestartRequest")
@BOTH
def test_restart_keeps_the_breakpoints(client: DapClient, runtime: bool) -> None:
    placed = client.launch(launch(COMPILED, runtime=runtime), {COMPILED: [line(COMPILED, "helper")]})
    assert client.wait_for_stop().hit_breakpoint_ids == [placed[COMPILED][0].id]
    client.request("restart")
    stop = client.wait_for_stop()
    assert stop.at_compile_time and stop.hit_breakpoint_ids == [placed[COMPILED][0].id]
    client.request("restart", {"arguments": launch(COMPILED, runtime=runtime, args=["new"])})
    stop = client.wait_for_stop()
    main = stop.frames()[-1]
    assert stop.evaluate("__import__('sys').argv[1:]", main.id).result == "['new']"
    assert not any(event["event"] in ("terminated", "exited") for event in client.events)
    stop.resume()
    assert client.wait_for_end() == 0


@BOTH
def test_a_restart_that_fails_says_why_and_ends(client: DapClient, runtime: bool) -> None:
    client.launch(launch(COMPILED, runtime=runtime), {COMPILED: [line(COMPILED, "helper")]})
    client.wait_for_stop()
    assert "/no/python" in client.failure(
        "restart", {"arguments": launch(COMPILED, runtime=False, python="/no/python")}
    )
    client.wait_for_event("terminated")


@pytest.mark.capability("supportsTerminateRequest")
@BOTH
def test_terminate(client: DapClient, runtime: bool) -> None:
    client.launch(launch(COMPILED, runtime=runtime), {COMPILED: [line(COMPILED, "helper")]})
    client.wait_for_stop()
    client.request("terminate")
    client.wait_for_event("terminated")
    client.request("disconnect")


@BOTH
def test_terminate_is_answered_before_a_disconnect_that_follows_at_once(client: DapClient, runtime: bool) -> None:
    client.launch(launch(COMPILED, runtime=runtime), {COMPILED: [line(COMPILED, "helper")]})
    client.wait_for_stop()
    terminate = client.send("terminate")
    client.wait_for_event("terminated")
    client.request("disconnect")
    assert terminate.response()["success"]


def test_terminate_by_an_interrupt_leaves_the_rest_to_the_program(client: DapClient) -> None:
    code = ["import time", "try:", "    print('ready')", "    time.sleep(600)"]
    code += ["except KeyboardInterrupt:", "    print('cleaned up')"]
    client.launch({"code": code, "console": "internalConsole", "onTerminate": "KeyboardInterrupt"})
    client.wait_for_event("output", where=lambda body: "ready" in body["output"])
    client.request("terminate")
    client.wait_for_end()
    assert "cleaned up" in client.output("stdout")


def test_without_debugpy_the_compile_time_half_works_alone(spawn: Callable[..., DapClient]) -> None:
    hidden = "import sys; sys.modules['debugpy'] = None; from dynascope.cli import main; main(['dap'])"
    client = spawn([sys.executable, "-c", hidden])
    client.launch(launch(COMPILED), {COMPILED: [line(COMPILED, "helper")]})
    assert "pip install debugpy" in client.output("important")
    assert client.wait_for_stop().at_compile_time


@BOTH
def test_pause_while_running(client: DapClient, runtime: bool) -> None:
    code = "import time\nfor i in range(10**6):\n    time.sleep(0.01)\n"
    client.launch({"code": code, "runtime": runtime, "console": "internalConsole"})
    thread = client.threads()[0]
    client.request("pause", {"threadId": thread.id})
    if runtime:
        assert client.wait_for_stop().reason == "pause"


@BOTH
def test_in_a_terminal(client: DapClient, runtime: bool) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def run_in_terminal(arguments: Body) -> Body:
        environment = dict(os.environ)
        for name, value in (arguments.get("env") or {}).items():
            if value is None:
                environment.pop(name, None)
            else:
                environment[name] = value
        started.append(
            subprocess.Popen(
                arguments["args"],
                cwd=arguments["cwd"],
                env=environment,
                stdout=subprocess.PIPE,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        )
        return {"processId": started[0].pid}

    client.handlers["runInTerminal"] = run_in_terminal
    client.initialize(supportsRunInTerminalRequest=True)
    configuration = launch(COMPILED, runtime=runtime, console="integratedTerminal", redirectOutput=False)
    client.launch(configuration, {COMPILED: [line(COMPILED, "helper")]})
    stop = client.wait_for_stop()
    assert stop.at_compile_time
    stop.resume()
    client.wait_for_event("terminated")
    output, _ = started[0].communicate(timeout=30)
    assert b"the end" in output and started[0].returncode == 0
    assert [event["body"]["exitCode"] for event in client.events if event["event"] == "exited"] == [0]


def test_child_processes_become_sessions_of_their_own(spawn: Callable[..., DapClient]) -> None:
    client = spawn()
    children: list[DapClient] = []
    came = threading.Event()

    def start_debugging(arguments: Body) -> Body:
        assert arguments["request"] == "attach" and arguments["configuration"]["type"] == "dynascope"
        assert arguments["configuration"]["python"] == [sys.executable]
        child = spawn()
        children.append(child)
        threading.Thread(target=follow, args=(child, arguments["configuration"]), daemon=True).start()
        return {}

    def follow(child: DapClient, configuration: Body) -> None:
        child.attach(configuration, {COMPILED: [line(COMPILED, "helper")]})
        came.set()

    client.handlers["startDebugging"] = start_debugging
    client.initialize(supportsStartDebuggingRequest=True)
    client.launch(launch(PARENT, subProcess=True), {PARENT: [line(PARENT, "ended")]})
    assert came.wait(60)
    stop = children[0].wait_for_stop()
    assert stop.at_compile_time and stop.where()[0] == "helper [0/0]"
    stop.resume()
    children[0].wait_for_event("terminated")
    stop = client.wait_for_stop()
    assert stop.evaluate("code").result == "0"
    stop.resume()
    assert client.wait_for_end() == 0


def test_children_run_on_when_the_client_knows_no_child_sessions(client: DapClient) -> None:
    start = time.monotonic()
    client.launch(launch(PARENT, subProcess=True))
    assert client.wait_for_end() == 0
    assert "the child ended with 0" in client.output("stdout")
    assert time.monotonic() - start < 50


@pytest.mark.matrix
@pytest.mark.real_processes
def test_inductors_own_processes_are_no_sessions(client: DapClient, tmp_path: Path) -> None:
    asked: list[Body] = []

    def start_debugging(arguments: Body) -> Body:
        asked.append(arguments)
        return {}

    client.handlers["startDebugging"] = start_debugging
    client.initialize(supportsStartDebuggingRequest=True)
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path)}
    client.launch(launch(INDUCTOR, subProcess=True, env=environment), {INDUCTOR: [line(INDUCTOR, "traced")]})
    stop = client.wait_for_stop()
    assert stop.at_compile_time
    stop.resume()
    assert client.wait_for_end(timeout=100) == 0
    assert asked == [] and "sum 3.0" in client.output("stdout")


@pytest.mark.matrix
@BOTH
def test_an_interpreter_without_dynascope_borrows_it(client: DapClient, runtime: bool, tmp_path: Path) -> None:
    """The environment hides our packages from the program, as another virtual environment would."""
    isolated = tmp_path / "isolated.sh"
    isolated.write_text(f'#!/bin/sh\nunset PYTHONPATH\nexec {sys.executable} "$@"\n')
    isolated.chmod(0o755)
    client.launch(launch(COMPILED, runtime=runtime, python=str(isolated)), {COMPILED: [line(COMPILED, "helper")]})
    stop = client.wait_for_stop()
    assert stop.at_compile_time
    stop.resume()
    assert client.wait_for_end() == 0


@pytest.mark.matrix
def test_a_distributed_job_has_a_session_per_rank(spawn: Callable[..., DapClient]) -> None:
    stops: dict[int, list[tuple[bool, str]]] = {}

    def look(rank: int, client: DapClient, stop: Stop) -> None:
        for each in (stop, None):
            here = each or client.wait_for_stop()
            stops.setdefault(rank, []).append((here.at_compile_time, here.where()[0]))
            here.resume()

    job = RankSessions(spawn, look)
    assert job.run(RANKS, line(RANKS, "helper"), line(RANKS, "ran")) == 0
    assert stops == {rank: [(True, "helper [0/0]"), (False, "<module>")] for rank in range(2)}
    assert job.told.count("wait up to 24 hours for a rank that is stopped, and do not fail") == 1  # by one rank alone
    assert "rank 1 -> 30.0" in job.parent.output("stdout")


@BOTH
def test_a_python_that_does_not_exist_fails_the_launch(client: DapClient, runtime: bool) -> None:
    client.initialize()
    assert "/no/python" in client.failure("launch", launch(PLAIN, runtime=runtime, python="/no/python"))


@pytest.mark.matrix
def test_attach_to_somebody_who_is_no_debugpy(client: DapClient) -> None:
    client.initialize()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert "not debugpy" in client.failure("attach", {"connect": {"host": "127.0.0.1", "port": port}})


@pytest.mark.parametrize("runtime", [True, False])
def test_stop_on_entry(client: DapClient, runtime: bool) -> None:
    client.launch(launch(COMPILED, runtime=runtime, stopOnEntry=True))
    stop = client.wait_for_stop()
    assert stop.at_compile_time is not runtime
    stop.resume()
    assert client.wait_for_end() == 0


@pytest.mark.real_processes
def test_why_debugpy_does_not_start_is_said(tmp_path: Path) -> None:
    (tmp_path / "debugpy").mkdir()
    (tmp_path / "debugpy" / "__init__.py").write_text("raise SystemExit('debugpy is broken here')\n")
    with DapClient.spawn(environment={"PYTHONPATH": f"{tmp_path}{os.pathsep}{search_path()}"}) as client:
        client.initialize()
        told = "debugpy has closed the connection; it has ended with status 1: debugpy is broken here."
        with pytest.raises(RequestFailed, match=re.escape(told)):
            client.launch(launch(PLAIN))
