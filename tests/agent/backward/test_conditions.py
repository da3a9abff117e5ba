"""Conditions, hit counts and logpoints of the backward's breakpoints, and expressions at its stops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from dynascope import compiled_autograd
from dynascope.agent.backward.debugger import BackwardDebugger
from dynascope.agent.backward.inspection import BackwardInspection
from dynascope.agent.backward.table import BackwardTable
from dynascope.agent.breakpoints.hits import AgentBreakpoint
from dynascope.agent.suspension.interface import Suspension
from dynascope.wire.dap import FunctionBreakpoint, SourceBreakpoint
from dynascope.wire.from_agent import ConsoleOutput

from tests.support.backward.scripted_debugger import Script, debugging, evaluate
from tests.support.marks import labels

pytestmark = pytest.mark.second_leg

HERE = __file__


def layers(step: int = 0) -> torch.Tensor:
    weight = torch.ones(4, 4, requires_grad=True)
    hidden = (torch.ones(3, 4) @ weight).relu() @ weight  #: forward
    hidden.sin().sum().backward()
    assert weight.grad is not None
    return weight.grad


FORWARD = labels(Path(HERE))["forward"]


def debugged(table: BackwardTable, runs: int = 1) -> tuple[Script, list[ConsoleOutput]]:
    script, written = Script(), list[Any]()
    debugger = BackwardDebugger(script, Suspension(), written.append)
    debugger.table = table
    expected = layers()
    try:
        with torch.autograd.set_detect_anomaly(True, check_nan=False), compiled_autograd.enable(lambda graph: graph):
            for step in range(runs):
                torch._C._dynamo.compiled_autograd.clear_cache()
                assert torch.equal(layers(step), expected)
    finally:
        debugger.remove()
    assert not [each.output for each in written if "dynascope failed" in each.output]
    return script, written


def named(name: str, **more: Any) -> BackwardTable:
    return BackwardTable().with_names([(name, AgentBreakpoint(FunctionBreakpoint(id=7, name=name, **more), None))])


@pytest.mark.parametrize(
    ("condition", "node_calls"),
    [
        ("name and node_call >= 3 and name != 'ReluBackward0'", ["MmBackward0", "AccumulateGrad"]),
        ("name == 'MmBackward0' and gradients[0].shape[0] == 3 and not gradients[0].is_cuda", ["MmBackward0"] * 2),
        ("any(each.dtype is torch.float16 for each in gradients)", []),
        ("step == 1", []),
        ("any(each.ndim == 2 for each in inputs) and step == 0 and name == 'SinBackward0'", ["SinBackward0"]),
        ("len(sizes) >= 0 and nodes > 0 and capture.startswith('!') and function is None and node_call == 2", None),
    ],
)
def test_a_condition_sees_the_capture_and_the_program_below(condition: str, node_calls: list[str] | None):
    script, written = debugged(named("*", condition=condition))
    found = [stop.names[0].partition(" [")[0].rpartition("::")[2] for stop in script.stops]
    assert not [each for each in written if each.category == "important"]
    if node_calls is None:
        assert len(found) == 1
    else:
        assert [each for each in found if each in node_calls] == found if node_calls else not found
        assert set(found) == set(node_calls)


def test_a_condition_without_an_answer_stops_and_says_so_once():
    script, written = debugged(named("MmBackward0", condition="unknown > 3"))
    assert len(script.stops) == 2
    (told,) = [each for each in written if each.category == "important"]
    assert "name 'unknown' is not defined" in told.output and "gradients" in told.output
    assert (told.path, told.line) == (HERE, FORWARD)


def test_a_hit_condition_counts_over_captures():
    script, _ = debugged(named("MmBackward0", hit_condition="% 2"), runs=2)
    assert [stop.names[0].partition(" ")[0] for stop in script.stops] == ["MmBackward0"] * 2
    first, second = (stop.names[0] for stop in script.stops)
    assert "!0" in first and "!1" in second


def test_a_logpoint_writes_and_does_not_stop():
    asked = SourceBreakpoint(id=8, line=FORWARD, mode="backward", log_message="{name}: {gradients[0]} {oops} {{}}")
    script, written = debugged(BackwardTable().with_file(HERE, [AgentBreakpoint(asked, FORWARD)]))
    assert not script.stops
    texts = [each.output for each in written if each.path == HERE and each.line == FORWARD]
    assert texts[0].startswith("MmBackward0: f32[3, 4] <name 'oops' is not defined") and texts[0].endswith("{}\n")


def test_the_console_evaluates_and_changes_nothing():
    script = Script()
    answers: list[str] = []

    def at_stop(inspection: BackwardInspection) -> None:
        for expression in ("gradients[0]", "name", "node_call + 1", "step * 2", "weight.sum().item()", "sizes"):
            answers.append(evaluate(inspection, expression))

    script.at_stop = at_stop
    expected = layers()
    with debugging(script, names=["SinBackward0"]), compiled_autograd.enable(lambda graph: graph):
        assert torch.equal(layers(21), expected)
    assert answers[0].startswith("f32[3, 4]")
    assert answers[1:5] == ["'SinBackward0'", "3", "42", "16.0"]
