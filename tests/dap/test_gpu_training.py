"""Training under the debugger on a GPU, and on the CPU of every machine: losses are those without a debugger."""

from __future__ import annotations

import re

import pytest

from tests.support.backward.gpu_table import Table
from tests.support.dap.client import DapClient
from tests.support.dap.launches import LONG, alone, launch, stop_named
from tests.support.devices import DEVICES, place
from tests.support.marks import PROGRAMS, line

LLAMA, MIXED = PROGRAMS / "gpu" / "train_llama.py", PROGRAMS / "gpu" / "mixed_precision.py"
WITH_CUDA_GRAPHS = [("cpu", False), *(pytest.param("cuda", each, marks=pytest.mark.cuda) for each in (False, True))]


def losses(output: str) -> list[float]:
    return [float(text) for text in re.findall(r"^loss (\S+)", output, re.MULTILINE)]


def without_losses(output: str) -> str:
    return re.sub(r"^loss \S+", "loss", output, flags=re.MULTILINE)


def assert_same(found: str, expected: str) -> None:
    """Numbers may differ in the last digit: an embedding's gradient is added up on a GPU in any order."""
    assert len(losses(expected)) == 3
    assert losses(found) == pytest.approx(losses(expected), abs=2e-4)
    assert without_losses(found) == without_losses(expected)


@pytest.mark.matrix
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("device", "cudagraphs"), WITH_CUDA_GRAPHS)
def test_a_llama_of_transformers_compiled_forward_and_backward(
    client: DapClient, device: str, cudagraphs: bool, gpu_table: Table
):
    """Inductor makes Triton kernels of it, and records CUDA graphs: as many as without the stops."""
    arguments = [device, *(["cudagraphs"] if cudagraphs else [])]
    expected = alone(LLAMA, *arguments)
    assert ("CUDA graphs True" in expected) == cudagraphs
    functions = ["LlamaMLP.forward", "CompiledFunctionBackward", "runtime_wrapper"]
    client.launch(launch(LLAMA, args=arguments), {LLAMA: [line(LLAMA, "trace")]}, functions=functions)

    # Dynamo traces the forward
    stop = stop_named(client, "LlamaMLP.forward [0/0]")
    assert stop.locals()["x"].value == f"f32[2, 16, 32]{place(device)}"
    stop = stop.step("next")
    assert stop.evaluate("x.sum(-1)").result == f"f32[2, 16]{place(device)}"
    stop.resume()
    stop = stop_named(client, "LanguageModel.forward [0/0]")
    assert stop.where()[1] == line(LLAMA, "trace")
    assert f"f32[2, 16, 64]{place(device)}" in stop.locals()["output"].value
    stop.resume()

    # the engine's nodes are captured, then Dynamo traces the captured graph
    stop = stop_named(client, "CompiledFunctionBackward [!0 NodeCall 1]")
    scope = stop.scopes()["Inputs"]
    assert stop.variables(scope.variables_reference)["gradients[0]"].value.startswith(f"f32[]{place(device)}")
    stop.resume()
    stop = stop_named(client, "runtime_wrapper")
    for _ in range(40):
        stop = stop.step("stepIn")
        if "[!0/" in stop.where()[0]:
            break
    assert "[!0/" in stop.where()[0]
    stop.resume()

    assert client.wait_for_end(LONG) == 0
    assert_same(client.output("stdout"), expected)
    gpu_table.add_session(device, f"three steps of a compiled Llama, CUDA graphs {'on' if cudagraphs else 'off'}")


@pytest.mark.matrix
@pytest.mark.timeout(600)
@pytest.mark.parametrize("device", DEVICES)
def test_autocast_with_scaled_gradients_on_a_stream_of_its_own(client: DapClient, device: str, gpu_table: Table):
    expected = alone(MIXED, device)
    client.launch(launch(MIXED, args=[device]), {MIXED: [line(MIXED, "trace")]})
    stop = stop_named(client, "Classifier.forward [0/0]")
    dtype = "f16" if device == "cuda" else "bf16"
    assert stop.locals()["hidden"].value == f"{dtype}[4, 16]{place(device)}"
    assert stop.evaluate("self.second(hidden.relu())").result == f"{dtype}[4, 2]{place(device)}"
    stop.resume()
    assert client.wait_for_end(LONG) == 0
    assert_same(client.output("stdout"), expected)
    gpu_table.add_session(device, "autocast, scaled gradients, a stream of its own")
