"""A breakpoint that names nothing of a backward says so, while the program runs and when it has ended."""

from __future__ import annotations

import pytest
from dynascope.agent.backward.table import BY_NAME, names_backward

from tests.support.backward.sessions import EAGER, TRAIN, configuration, ends_well
from tests.support.dap.client import DapClient
from tests.support.dap.fixtures import client, spawn
from tests.support.marks import line

pytestmark = pytest.mark.second_leg

__all__ = ["client", "spawn"]


@pytest.mark.parametrize("pattern", ["NodeCall 5", "Accumulate*", "reorder_*", "*Convolution*Backward*", "dce"])
def test_names_that_only_a_backward_has(pattern: str):
    assert names_backward(pattern)


@pytest.mark.parametrize("pattern", ["*", "*Attention*.forward", "reorder", "accumulate"])
def test_names_that_a_function_may_have(pattern: str):
    assert not names_backward(pattern)


@pytest.mark.second_leg_only
def test_a_name_that_no_backward_has_is_told(client: DapClient):
    named = ["SinnBackward0", "NodeCall 99", "unpack_hook", "reorder_all", "MmBackward0"]
    lines = [{"line": line(TRAIN, "after"), "mode": "backward"}]
    client.launch(configuration(), {TRAIN: lines}, functions=named)
    stop = client.wait_for_stop()
    assert stop.where()[0] == "MmBackward0 [!0 NodeCall 3]"
    stop.resume()
    told = [client.wait_for_event("breakpoint")["body"]["breakpoint"]["message"] for _ in range(4)]
    assert told[0].endswith("is called SinnBackward0. Did you mean SinBackward0?")
    assert told[1] == "No backward so far has it: the longest goes to NodeCall 4."
    assert told[2] == "No backward so far (1 captured) has any unpack_hook."
    assert told[3].endswith("its nodes are SumBackward0, SinBackward0, MmBackward0, AccumulateGrad.")
    assert BY_NAME not in told
    assert ends_well(client)
    said = client.output("console")
    assert "SinnBackward0: the breakpoint was never hit. No node, hook or pass" in said
    assert f"train.py:{lines[0]['line']}: the breakpoint was never hit. Nothing in the backwards" in said
    assert "MmBackward0: the breakpoint" not in said


@pytest.mark.second_leg_only
def test_a_condition_that_never_held_is_the_reason(client: DapClient):
    named = [{"name": "AddmmBackward0", "condition": "gradients[0].ndim == 7"}]
    client.launch(configuration(program=str(EAGER), compiledAutograd="eager"), functions=named)
    assert client.wait_for_end() == 0
    assert "AddmmBackward0: the breakpoint was never hit. A backward came here once, and its condition" in (
        client.output("console")
    )


def test_without_compiled_autograd_that_is_the_reason(client: DapClient):
    client.launch(configuration(program=str(EAGER)), functions=["AddmmBackward0"])
    assert client.wait_for_end() == 0
    assert "AddmmBackward0: the breakpoint was never hit. No backward was captured: compiled autograd was off" in (
        client.output("console")
    )
