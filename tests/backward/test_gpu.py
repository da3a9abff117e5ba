"""CUDA inputs for real: `make test-cuda`, on a machine with a GPU. What they gave is a table at the end of the run."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from dynascope import compiled_autograd
from torch._inductor import config as inductor

from tests.backward.gpu_table import Table
from tests.backward.holding import Script, debugging
from tests.backward.programs import PROGRAMS
from tests.backward.test_cuda import divide
from tests.backward.test_runtime import OFF, state
from tests.backward.test_stops import same

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU; nothing of it was tested here"),
]
ON_ONE_GPU = sorted(set(PROGRAMS) - {"distributed_data_parallel"})


def on_gpu(name: str) -> list[torch.Tensor | None]:
    torch.manual_seed(0)
    with torch.device("cuda"):
        loss, leaves = PROGRAMS[name]()
    loss.backward()
    torch.cuda.synchronize()
    return [leaf.grad for leaf in leaves]


@pytest.mark.parametrize("name", ON_ONE_GPU)
@pytest.mark.parametrize("cudagraphs", [False, True])
def test_gradients_equal_eager_with_a_stop_at_every_node(name: str, cudagraphs: bool, gpu_table: Table):
    expected = on_gpu(name)
    script = Script("stepIn")
    setting = inductor.patch({"triton.cudagraphs": cudagraphs})
    with setting, debugging(script, names=["GraphRoot"]), compiled_autograd.enable(lambda graph: graph) as runs:
        found = on_gpu(name)
    assert same(found, expected)
    run = runs[-1]
    assert "cuda:0" in run.inputs
    assert run.device_ms is not None and run.device_ms >= 0
    nodes = [stop.names[0] for stop in script.stops if "NodeCall" in stop.names[0] and "hook" not in stop.names[0]]
    assert nodes == [f"{node} [{run.compile_id} NodeCall {i}]" for i, node in enumerate(run.node_calls) if node]
    assert "cuda:0" in str(script.stops[0].scopes["Inputs"])
    assert state() == OFF
    gpu_table.add(name, "captured graph", cudagraphs, run)


@pytest.mark.parametrize("name", ["mlp", "attention", "conv_norm"])
@pytest.mark.parametrize("cudagraphs", [False, True])
def test_compiled_and_run_again_gradients_equal_eager(name: str, cudagraphs: bool, gpu_table: Table):
    expected = on_gpu(name)
    setting = inductor.patch({"triton.cudagraphs": cudagraphs})
    with setting, compiled_autograd.enable(torch.compile) as runs:
        for _ in range(4):
            for gradient, wanted in zip(on_gpu(name), expected, strict=True):
                torch.testing.assert_close(gradient, wanted, rtol=1e-3, atol=1e-4)
    assert [run.captured for run in runs] == [True, False, False, False]
    gpu_table.add(name, "inductor, 4th run", cudagraphs, runs[-1])


@pytest.mark.parametrize("cudagraphs", [False, True])
def test_the_scalar_moves_with_cudagraphs_alone_and_is_reported(cudagraphs: bool, gpu_table: Table):
    expected = divide("cuda")
    with inductor.patch({"triton.cudagraphs": cudagraphs}), compiled_autograd.enable(torch.compile) as runs:
        for _ in range(3):
            torch.testing.assert_close(divide("cuda"), expected)
    run = runs[0]
    assert bool(run.moved_to_cuda) == cudagraphs
    assert run.moved_bytes == 4 * len(run.moved_to_cuda)
    assert run.inputs["cpu"].count == len(run.moved_to_cuda) + 1 or not cudagraphs
    assert [run.captured for run in runs] == [True, False, False]
    gpu_table.add("scalars of the CPU", "inductor, 3rd run", cudagraphs, runs[-1])


def test_two_streams_in_turn(gpu_table: Table):
    expected = divide("cuda")
    streams = [torch.cuda.Stream() for _ in range(2)]
    script = Script("stepIn")
    with debugging(script, names=["GraphRoot"]), compiled_autograd.enable(lambda graph: graph) as runs:
        for stream in streams * 2:
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                found = divide("cuda")
                assert torch.cuda.current_stream() == stream, "a stop left another stream current"
            stream.synchronize()
            torch.testing.assert_close(found, expected)
    assert all(run.device_ms is not None for run in runs)
    assert [run.captured for run in runs] == [True, False, False, False]
    gpu_table.add("scalars of the CPU", "two streams", False, runs[-1])


def test_shapes_and_devices_at_a_stop_are_those_of_the_run():
    script = Script()
    with debugging(script, names=["AddmmBackward0"]), compiled_autograd.enable(lambda graph: graph):
        on_gpu("mlp")
    inputs = script.stops[0].scopes["Inputs"]
    assert inputs["gradients[0]"][0].startswith("f32[3, 2] cuda:0")
    lifted = [text for name, (text, _) in inputs.items() if name.startswith("inputs[")]
    assert lifted and sum("cuda:0" in text for text in lifted) >= len(lifted) - 1  # backward's own 1 may be anywhere


def test_the_gpu_is_usable_after_a_client_that_failed_at_every_stop():
    def fails(inspection: Any) -> None:
        raise RuntimeError("the client went away")

    script = Script("stepIn")
    script.at_stop = fails
    expected = divide("cuda")
    fails_the_test = pytest.raises(AssertionError, match="the client went away")
    enabled = compiled_autograd.enable(lambda graph: graph)
    with fails_the_test, debugging(script, names=["GraphRoot"]), enabled:
        torch.testing.assert_close(divide("cuda"), expected)
    torch.cuda.synchronize()
    torch.testing.assert_close(divide("cuda"), expected)
    assert state() == OFF
