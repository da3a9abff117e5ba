"""Breakpoints in functions of the program that torch calls while it compiles, besides backends."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.dap.client import DapClient, Stop
from tests.support.dap.launches import launch
from tests.support.marks import line, program

CALLED = program("called_by_torch.py")


def begin(client: DapClient, what: str, *marks: str, **settings: object) -> None:
    configuration = launch(CALLED, args=[what], subProcess=False, **settings)
    client.launch(configuration, {CALLED: [line(CALLED, mark) for mark in marks]})


def places(client: DapClient) -> set[tuple[bool, str]]:
    """Where the program stops, whether at compile time, until it ends."""
    seen = set()
    while (event := client.wait_for_event("stopped", "terminated"))["event"] == "stopped":
        stop = Stop(client, event["body"])
        seen.add((stop.at_compile_time, stop.where()[0]))
        stop.resume()
    return seen


@pytest.mark.parametrize(
    ("what", "marks", "functions"),
    [
        ("fake", ["fake", "helper"], {"fake", "helper"}),
        pytest.param("dispatch", ["dispatch"], {"__torch_dispatch__"}, marks=pytest.mark.matrix),
        ("unstrict", ["unstrict"], {"unstrict"}),
        pytest.param("inductor", ["custom_pass", "lowering"], {"custom_pass", "lowers"}, marks=pytest.mark.matrix),
    ],
)
def test_a_function_that_torch_calls_stops(client: DapClient, what: str, marks: list[str], functions: set[str]) -> None:
    begin(client, what, *marks)
    seen = places(client)
    assert {name for at_compile_time, name in seen if not at_compile_time} == functions
    # torch 2.11 also compiles __torch_dispatch__, and a compiled frame has the class in its name
    assert {name.split()[0].rpartition(".")[2] for _, name in seen} == functions


def test_a_function_that_dynamo_puts_in_the_graph_stops_where_dynamo_calls_it(client: DapClient) -> None:
    begin(client, "opaque", "opaque")
    tensors = []
    for _ in range(2):
        stop = client.wait_for_stop()
        assert stop.where()[0] == "opaque"
        tensors.append(stop.evaluate("type(x).__name__").result)
        stop.resume()
    assert tensors == ["'FakeTensor'", "'Tensor'"]


def test_a_step_out_of_such_a_function_continues_where_dynamo_traces(client: DapClient) -> None:
    begin(client, "fake", "fake")
    stop = client.wait_for_stop().step("next")
    assert (stop.at_compile_time, stop.where()[0]) == (True, "uses_operator [0/0]")
    assert line(CALLED, "after_operator") - stop.where()[1] in (0, 1)  # the call's line may not have ended
    stop.resume()
    assert client.wait_for_end() == 0


@pytest.mark.parametrize("what", ["fake", pytest.param("opaque", marks=pytest.mark.matrix)])
def test_looking_at_fake_tensors_there_changes_nothing(client: DapClient, what: str) -> None:
    plain = subprocess.run([sys.executable, CALLED, what], capture_output=True, text=True, check=True)
    begin(client, what, what)
    stop = client.wait_for_stop()
    tensor = stop.locals()["x"]
    assert "FakeTensor" in tensor.value
    assert stop.variables(tensor.variables_reference)
    stop.resume()
    while client.wait_for_event("stopped", "terminated")["event"] == "stopped":
        stop.resume()
    assert client.output("stdout") == plain.stdout


def test_what_dynamo_itself_calls_says_why_it_did_not_stop(client: DapClient) -> None:
    begin(client, "comptime", "comptime")
    assert places(client) == set()
    assert "nor what Dynamo itself runs while it compiles" in client.output("console")


def test_what_dynamo_itself_calls_stops_with_debug_dynamo(client: DapClient) -> None:
    begin(client, "comptime", "comptime", debugDynamo=True)
    assert (False, "looks") in places(client)
