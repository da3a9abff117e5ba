"""Attach to `dynascope.listen()` and to `debugpy.listen()`: the program is there before us, and runs on after us."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.dap.client import DapClient
from tests.support.dap.running import Running
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import line, program

pytestmark = pytest.mark.second_leg

SERVING = program("serving.py")
TRAINING = program("serving_backward.py")


@pytest.fixture
def run() -> Iterator[Callable[..., Running]]:
    started: list[Running] = []

    def start(*arguments: str, path: Path = SERVING) -> Running:
        started.append(Running(path, *arguments))
        return started[-1]

    yield start
    for running in started:
        if running.process.poll() is None:
            running.process.kill()
        running.process.wait()


def configuration(running: Running, **more: Any) -> dict[str, Any]:
    return {"connect": running.connect} | more


@pytest.mark.second_leg_only
@WITH_AND_WITHOUT_DEBUGPY
@pytest.mark.parametrize("vanish", [True, pytest.param(False, marks=pytest.mark.matrix)])
def test_the_program_runs_on_when_the_client_leaves_at_a_stop(
    client: DapClient, run: Callable[..., Running], runtime: bool, vanish: bool
) -> None:
    running = run()
    client.attach(configuration(running, runtime=runtime), {SERVING: [line(SERVING, "traced")]})
    stop = client.wait_for_stop()
    assert stop.at_compile_time and stop.where()[0].startswith("compiled [")
    assert "rounds" in [frame.name for frame in stop.frames()]
    if vanish:
        client.vanish()
    else:
        client.request("disconnect")
    running.assert_runs_on()
    assert running.end() == 0


@pytest.mark.second_leg_only
@WITH_AND_WITHOUT_DEBUGPY
def test_the_program_runs_on_when_the_client_leaves_in_an_expression_without_an_end(
    client: DapClient, run: Callable[..., Running], runtime: bool
) -> None:
    running = run()
    client.attach(configuration(running, runtime=runtime), {SERVING: [line(SERVING, "traced")]})
    frame = client.wait_for_stop().frames()[0].id
    client.send("evaluate", {"expression": "[i for i in iter(int, 1) if i]", "frameId": frame, "context": "repl"})
    client.request("disconnect")
    running.assert_runs_on()
    assert running.end() == 0


@pytest.mark.second_leg_only
@WITH_AND_WITHOUT_DEBUGPY
def test_attach_again(spawn: Callable[..., DapClient], run: Callable[..., Running], runtime: bool) -> None:
    running = run()
    for _ in range(2):
        client = spawn()
        client.attach(configuration(running, runtime=runtime), {SERVING: [line(SERVING, "traced")]})
        assert client.wait_for_stop().at_compile_time
        client.request("disconnect")
        running.assert_runs_on()
    assert running.end() == 0


@WITH_AND_WITHOUT_DEBUGPY
def test_a_program_that_waits_goes_on_after_configuration_done(
    client: DapClient, run: Callable[..., Running], runtime: bool
) -> None:
    running = run("--wait")
    client.attach(configuration(running, runtime=runtime), {SERVING: [line(SERVING, "traced")]})
    running.read_until("a client came")
    assert client.wait_for_stop().at_compile_time


@pytest.mark.second_leg_only
def test_restart_attaches_again_with_the_breakpoints(client: DapClient, run: Callable[..., Running]) -> None:
    running = run()
    client.attach(configuration(running), {SERVING: [line(SERVING, "traced")]})
    assert client.wait_for_stop().at_compile_time
    client.request("restart")
    assert client.wait_for_stop().at_compile_time
    client.request("disconnect")
    running.assert_runs_on()


@pytest.mark.second_leg_only
@WITH_AND_WITHOUT_DEBUGPY
@pytest.mark.parametrize("mark", ["traced", pytest.param("counted", marks=pytest.mark.matrix)])
def test_nothing_stops_before_configuration_done(
    client: DapClient, run: Callable[..., Running], runtime: bool, mark: str
) -> None:
    """A client that takes long, or never gets there, must not freeze the program."""
    running = run()
    client.initialize()
    started = client.send("attach", configuration(running, runtime=runtime))
    client._wait_until_initialized(started)
    client.set_breakpoints(SERVING, line(SERVING, mark))
    running.assert_runs_on()
    running.assert_runs_on()
    if runtime or mark == "traced":
        client.request("configurationDone")
        assert client.wait_for_stop().at_compile_time == (mark == "traced")


@pytest.mark.second_leg_only
@pytest.mark.capability("supportTerminateDebuggee")
@WITH_AND_WITHOUT_DEBUGPY
def test_terminate_ends_the_program(client: DapClient, run: Callable[..., Running], runtime: bool) -> None:
    running = run()
    client.attach(configuration(running, runtime=runtime), {})
    client.request("disconnect", {"terminateDebuggee": True})
    running.process.wait(20)  # with its standard input still open, it does not end by itself
    assert running.process.stdout is not None and "the end" not in running.process.stdout.read()


@WITH_AND_WITHOUT_DEBUGPY
def test_a_wrong_token_is_refused(client: DapClient, run: Callable[..., Running], runtime: bool) -> None:
    running = run()
    client.initialize()
    message = client.failure("attach", configuration(running, runtime=runtime, token="0" * 64))
    assert "token" in message
    running.assert_runs_on()


@pytest.mark.second_leg_only
def test_path_mappings_hold_for_symbolic_frames(client: DapClient, run: Callable[..., Running], tmp_path: Path) -> None:
    local = tmp_path / SERVING.name
    local.write_bytes(SERVING.read_bytes())
    mappings = [{"localRoot": str(tmp_path), "remoteRoot": str(SERVING.parent)}]
    running = run()
    placed = client.attach(configuration(running, pathMappings=mappings), {local: [line(local, "traced")]})
    stop = client.wait_for_stop()
    assert stop.hit_breakpoint_ids == [placed[local][0].id]
    assert {f.source.path for f in stop.frames() if f.source and f.name != "<module>"} >= {str(local)}
    assert stop.symbolic_frames()[0].source == stop.frames()[0].source
    symbolic = stop.symbolic_frames()[0].source
    assert symbolic is not None and symbolic.path == str(local)


@pytest.mark.matrix
@pytest.mark.real_processes
def test_a_plain_debugpy_port(client: DapClient, tmp_path: Path) -> None:
    path = tmp_path / "plain_listener.py"
    text = SERVING.read_text().replace("import dynascope\n", "import debugpy\n")
    path.write_text(text.replace("dynascope.listen()", 'debugpy.listen(("127.0.0.1", 0))'))
    running = Running(path)
    try:
        client.attach(configuration(running), {path: [line(path, "traced"), line(path, "counted")]})
        stops = []
        for _ in range(2):
            stops.append(client.wait_for_stop())
            stops[-1].resume()
        assert {stop.at_compile_time for stop in stops} == {True, False}
        client.request("disconnect")
        running.assert_runs_on()
    finally:
        os.killpg(running.process.pid, 9)
        running.process.wait()


@pytest.mark.second_leg_only
@WITH_AND_WITHOUT_DEBUGPY
def test_compiled_autograd_is_on_for_as_long_as_the_client_is_attached(
    client: DapClient, run: Callable[..., Running], runtime: bool
) -> None:
    running = run(path=TRAINING)
    assert "eager" in running.read_until("round")
    wanted = configuration(running, runtime=runtime, compiledAutograd="eager")
    client.attach(wanted, {TRAINING: [{"line": line(TRAINING, "forward"), "mode": "backward"}]})
    stop = client.wait_for_stop()
    assert stop.description == "Paused in a backward"
    assert stop.where()[1] == line(TRAINING, "forward") and "step" in [frame.name for frame in stop.frames()]
    before = stop.where()[0]
    stop = stop.step("next")
    assert stop.where()[0] != before and "NodeCall" in stop.where()[0]
    client.set_breakpoints(TRAINING)
    stop.resume()
    running.read_until("round captured")
    client.request("disconnect")
    running.read_until("round eager")
    running.assert_runs_on()
    assert running.end() == 0
