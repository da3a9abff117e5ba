"""Breakpoint modes `run` and `generated`, by a client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.dap.client import DapClient
from tests.support.marks import line, program

pytestmark = pytest.mark.second_leg

MODES = program("modes.py")
EVIDENCE = program("evidence.py")
HIGHER_ORDER = program("higher_order.py")


def launch(**more: Any) -> dict[str, Any]:
    return {"program": str(MODES), "console": "internalConsole", "subProcess": False, "redirectOutput": True} | more


def at(mark: str, mode: str, **more: Any) -> dict[str, Any]:
    return {"line": line(MODES, mark), "mode": mode} | more


@pytest.mark.second_leg_only
@pytest.mark.parametrize(
    ("mark", "function", "times"),
    [
        ("resumed", "outer", 3),
        pytest.param("inner", "inner", 6, marks=pytest.mark.matrix),
        pytest.param("yield", "pieces", 6, marks=pytest.mark.matrix),
    ],
)
def test_mode_run_stops_each_time_the_line_runs(client: DapClient, mark: str, function: str, times: int) -> None:
    placed = client.launch(launch(), {MODES: [at(mark, "run")]})[MODES][0]
    assert placed.verified and "left uncompiled" in (placed.message or "")
    for _ in range(times):
        stop = client.wait_for_stop()
        assert not stop.at_compile_time and stop.hit_breakpoint_ids == [placed.id]
        assert stop.where() == (function, line(MODES, mark))
        stop.resume()
    assert client.wait_for_end() == 0


@pytest.mark.second_leg_only
def test_mode_run_comes_and_goes_with_what_is_compiled_already(client: DapClient) -> None:
    client.launch(launch(), {MODES: [line(MODES, "report")]})
    stop = client.wait_for_stop()
    client.set_breakpoints(MODES, at("inner", "run"), line(MODES, "report"))
    stop.resume()
    for _ in range(2):
        stop = client.wait_for_stop()
        assert stop.where() == ("inner", line(MODES, "inner")) and not stop.at_compile_time
        stop.resume()
    stop = client.wait_for_stop()
    assert stop.where()[0] == "report"
    client.set_breakpoints(MODES, line(MODES, "inner"))
    stop.resume()
    stop = client.wait_for_stop()
    assert stop.at_compile_time and stop.symbolic_frames()[1].line == line(MODES, "call")
    client.set_breakpoints(MODES)
    stop.resume()
    assert client.wait_for_end() == 0


@pytest.mark.second_leg_only
def test_mode_run_stops_in_the_bodies_of_higher_order_ops(client: DapClient) -> None:
    marks = ["branch", "block", "sample", "loss"]
    asked = [{"line": line(HIGHER_ORDER, mark), "mode": "run"} for mark in marks]
    placed = client.launch(launch(program=str(HIGHER_ORDER)), {HIGHER_ORDER: asked})[HIGHER_ORDER]
    assert all("torch.cond" in (each.message or "") for each in placed)
    for _ in range(2):
        for mark in marks:
            stop = client.wait_for_stop()
            assert stop.where() == (mark, line(HIGHER_ORDER, mark)) and not stop.at_compile_time
            stop.resume()
    assert client.wait_for_end() == 0
    assert client.output().count("[1.0, 1.0, 1.0]") == 2


def test_module_level_code_runs_uncompiled_always(client: DapClient) -> None:
    asked = {"line": line(MODES, "import"), "mode": "run"}
    placed = client.launch(launch(), {MODES: [asked]})[MODES][0]
    assert placed.message == "Module-level code always runs uncompiled: the breakpoint stops each time the line runs."
    stop = client.wait_for_stop()
    assert stop.where() == ("<module>", line(MODES, "import")) and not stop.at_compile_time
    stop.resume()
    assert client.wait_for_end() == 0


def test_mode_generated_of_a_function_that_is_not_compiled(client: DapClient) -> None:
    client.launch(launch(), {MODES: [at("report", "generated")]})
    assert client.wait_for_end() == 0
    where = f"modes.py:{line(MODES, 'report')}: the breakpoint was never hit."
    assert f"{where} Dynamo generated no code for report." in client.output("console")


def test_mode_run_needs_debugpy(client: DapClient) -> None:
    placed = client.launch(launch(runtime=False), {MODES: [at("inner", "run")]})[MODES][0]
    assert not placed.verified and placed.reason == "failed" and "without debugpy" in (placed.message or "")
    assert client.wait_for_end() == 0


@pytest.mark.second_leg_only
def test_mode_generated_stops_in_the_code_that_dynamo_made(client: DapClient) -> None:
    placed = client.launch(launch(), {MODES: [at("break", "generated")]})[MODES][0]
    assert placed.verified and "Not compiled yet" in (placed.message or "")
    seen = []
    for turn in range(4):
        stop = client.wait_for_stop()
        assert not stop.at_compile_time and stop.hit_breakpoint_ids == [placed.id]
        seen.append(stop.frames()[0].name)
        if turn == 3:
            client.set_breakpoints(MODES)
        stop.resume()
    assert seen[0] == "outer (generated code)"
    assert any(name.startswith("outer (resume function after line ") for name in seen)
    assert client.wait_for_end() == 0


@pytest.mark.second_leg_only
def test_mode_generated_of_an_inlined_function_stops_in_what_inlined_it(client: DapClient) -> None:
    placed = client.launch(launch(), {MODES: [at("inner", "generated", condition="x.shape[0] == 2")]})[MODES][0]
    stop = client.wait_for_stop()
    assert not stop.at_compile_time and stop.hit_breakpoint_ids == [placed.id]
    assert stop.evaluate("x.shape").result == "torch.Size([2, 3])"
    changed = client.wait_for_event(
        "breakpoint", where=lambda body: "compiled into" in body["breakpoint"].get("message", "")
    )
    assert "outer" in changed["body"]["breakpoint"]["message"]
    client.set_breakpoints(MODES)
    stop.resume()
    assert client.wait_for_end() == 0


@pytest.mark.second_leg_only
def test_mode_generated_changes_nothing(client: DapClient, spawn: Callable[..., DapClient]) -> None:
    """With stops in the generated code of all three calls, a look at each frame, an evaluation and a step."""
    plain = spawn()
    plain.launch(launch(program=str(EVIDENCE)))
    assert plain.wait_for_end() == 0
    asked = [{"line": line(EVIDENCE, mark), "mode": "generated"} for mark in ("inner", "resumed")]
    client.launch(launch(program=str(EVIDENCE)), {EVIDENCE: asked})
    for turn in range(7):
        stop = client.wait_for_stop()
        assert not stop.at_compile_time
        for scope in stop.scopes().values():
            stop.variables(scope.variables_reference)
        assert stop.evaluate("1 + 1").result == "2"
        if turn == 6:
            client.set_breakpoints(EVIDENCE)
            stop = stop.step("next")
        stop.resume()
    assert client.wait_for_end() == 0
    assert "counters" in plain.output("stdout")
    assert client.output("stdout") == plain.output("stdout")
