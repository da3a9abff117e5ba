"""On a GPU, what inductor makes of captured graphs: Triton kernels and CUDA graphs, with and without stops."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from dynascope import compiled_autograd
from torch._dynamo.utils import counters
from torch._inductor import config as inductor

from tests.support.backward.engine_state import OFF, state
from tests.support.backward.gpu_table import Table
from tests.support.backward.on_gpu import device_state, difference, gradients
from tests.support.backward.programs import divide
from tests.support.backward.scripted_debugger import Script, debugging

pytestmark = [pytest.mark.second_leg, pytest.mark.cuda, pytest.mark.usefixtures("exact")]
CLOSE: Any = {"rtol": 1e-4, "atol": 1e-5}
"""Triton adds up in another order than eager mode's kernels."""


@pytest.mark.parametrize("cudagraphs", [False, True])
def test_the_scalar_moves_with_cudagraphs_alone_and_is_reported(cudagraphs: bool, gpu_table: Table):
    expected = [divide("cuda")]
    with inductor.patch({"triton.cudagraphs": cudagraphs}), compiled_autograd.enable(torch.compile) as runs:
        apart = max(difference([divide("cuda")], expected, **CLOSE) for _ in range(4))
    assert [run.captured for run in runs] == [True, False, False, False]
    for run in runs:
        assert len(run.moved_to_cuda) == (1 if cudagraphs else 0)
        assert run.moved_bytes == 4 * len(run.moved_to_cuda)
        assert run.inputs["cpu"].count == 2  # the divisor, and what the user's own backward is given
    gpu_table.add("scalars of the CPU", "by inductor, 4th run", cudagraphs, runs[-1], apart)


@pytest.mark.parametrize("name", ["mlp", "scalar_divisions", "attention", "conv_norm"])
@pytest.mark.parametrize("cudagraphs", [False, True])
def test_compiled_and_run_again_gradients_equal_eager(name: str, cudagraphs: bool, gpu_table: Table):
    expected = gradients(name)
    before = device_state()
    with inductor.patch({"triton.cudagraphs": cudagraphs}), compiled_autograd.enable(torch.compile) as runs:
        apart = max(difference(gradients(name), expected, **CLOSE) for _ in range(4))
    assert [run.captured for run in runs] == [True, False, False, False]
    assert device_state() == before
    assert state() == OFF
    gpu_table.add(name, "by inductor, 4th run", cudagraphs, runs[-1], apart)


@pytest.mark.parametrize("name", ["mlp", "scalar_divisions"])
def test_stops_do_not_keep_inductor_from_recording_cuda_graphs(name: str, gpu_table: Table):
    """Every scalar on the CPU has moved, so that inductor has no reason to do without a CUDA graph."""
    expected = gradients(name)
    before = device_state()
    counters.clear()
    script = Script("stepIn")
    on = inductor.patch({"triton.cudagraphs": True})
    with on, debugging(script, names=["GraphRoot"]), compiled_autograd.enable(torch.compile) as runs:
        apart = max(difference(gradients(name), expected, **CLOSE) for _ in range(4))
    counted = dict(counters["inductor"])
    assert not counted.get("cudagraph_skips"), counted
    assert counted.get("cudagraph_recorded_non_static_inputs"), f"no CUDA graph was recorded: {counted}"
    assert [run.captured for run in runs] == [True, False, False, False]
    assert [stop.names[0] for stop in script.stops][-1] == "runtime_wrapper [!0]"
    assert device_state() == before
    assert state() == OFF
    gpu_table.add(f"{name}, a stop at each node", "by inductor, 4th run", True, runs[-1], apart)


@pytest.mark.parametrize(("attention", "cudagraphs"), [("eager", False), ("eager", True), ("sdpa", True)])
def test_a_transformers_model(attention: str, cudagraphs: bool, gpu_table: Table):
    transformers = pytest.importorskip("transformers")
    configuration = transformers.LlamaConfig(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        attn_implementation=attention,
    )
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(configuration).cuda()
    tokens = torch.arange(16, device="cuda").reshape(2, 8)

    def step() -> list[torch.Tensor | None]:
        model.zero_grad()
        model(tokens, labels=tokens, use_cache=False).loss.backward()
        return [None if each.grad is None else each.grad.clone() for each in model.parameters()]

    expected = step()
    script = Script("next", reads=False)
    setting = inductor.patch({"triton.cudagraphs": cudagraphs})
    with setting, debugging(script, names=["GraphRoot"]), compiled_autograd.enable(torch.compile) as runs:
        apart = max(difference(step(), expected, rtol=1e-3, atol=1e-4) for _ in range(3))
    assert [run.captured for run in runs] == [True, False, False]
    nodes = [name for name in runs[0].node_calls if name]
    assert len(nodes) > 50 and "cuda:0" in runs[0].inputs
    stops = [stop.names[0].partition(" ")[0] for stop in script.stops if "NodeCall" in stop.names[0]]
    assert stops == nodes
    gpu_table.add(f"Llama of one layer, {attention} attention", "by inductor, 3rd run", cudagraphs, runs[-1], apart)
