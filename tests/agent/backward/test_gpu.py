"""CUDA inputs for real: `make test-cuda`, on a machine with a GPU. Here captures and stops, in `test_gpu_compiled.py`
what inductor makes of the graphs, in `test_gpu_session.py` whole sessions. What they gave is a table at the end of the
run."""

from __future__ import annotations

import gc
import re
import threading
from typing import Any

import pytest
import torch
from dynascope import compiled_autograd
from torch._inductor import config as inductor

from tests.support.backward.engine_state import OFF, state
from tests.support.backward.gpu_table import Table
from tests.support.backward.on_gpu import ON_ONE_GPU, device_state, difference, gradients
from tests.support.backward.programs import divide
from tests.support.backward.scripted_debugger import Script, debugging, evaluate

pytestmark = [pytest.mark.second_leg, pytest.mark.cuda, pytest.mark.usefixtures("exact")]


@pytest.mark.parametrize("name", ON_ONE_GPU)
@pytest.mark.parametrize("cudagraphs", [False, True])
def test_gradients_equal_eager_with_a_stop_at_every_node(name: str, cudagraphs: bool, gpu_table: Table):
    """And the captured graph, the GPU's stream and its random numbers are those of a run without a debugger."""
    graphs: list[str] = []

    def keep(graph: Any) -> Any:
        # compiled forwards are numbered for the life of the process
        graphs.append(re.sub(r"(aot|CompiledFunctionBackward)\d+", r"\1", graph.print_readable(False)))
        return graph

    def inspect_stop(inspection: Any) -> None:
        evaluate(inspection, "torch.rand(2, device='cuda').device, len(inputs), [g.is_cuda for g in gradients]")

    expected = gradients(name)
    before, random_numbers = device_state(), torch.cuda.get_rng_state()
    script = Script("stepIn")
    script.at_stop = inspect_stop
    with inductor.patch({"triton.cudagraphs": cudagraphs}):
        with compiled_autograd.enable(keep):
            difference(gradients(name), expected)
        compiled_autograd.reset()
        with debugging(script, names=["GraphRoot"]), compiled_autograd.enable(keep) as runs:
            apart = difference(gradients(name), expected)
    assert device_state() == before and torch.equal(torch.cuda.get_rng_state(), random_numbers)
    assert state() == OFF
    assert len(graphs) == 2 and graphs[0] == graphs[1]
    run = runs[-1]
    assert run.inputs["cuda:0"].count > 0
    assert run.device_ms is not None and run.device_ms >= 0
    nodes = [stop.names[0] for stop in script.stops if "NodeCall" in stop.names[0] and "hook" not in stop.names[0]]
    assert nodes == [f"{node} [{run.compile_id} NodeCall {i}]" for i, node in enumerate(run.node_calls) if node]
    assert "cuda:0" in str(script.stops[0].scopes["Inputs"])
    # none of these programs hands a scalar to code of its own, so with CUDA graphs all of them move
    scalars = run.inputs.get("cpu")
    moves = scalars if cudagraphs else None
    assert (len(run.moved_to_cuda), run.moved_bytes) == ((moves.count, moves.bytes) if moves else (0, 0))
    gpu_table.add(name, "as captured", cudagraphs, run, apart)


def test_shapes_and_devices_at_a_stop_are_those_of_the_run():
    script = Script()
    with debugging(script, names=["AddmmBackward0"]), compiled_autograd.enable(lambda graph: graph):
        gradients("mlp")
    inputs = script.stops[0].scopes["Inputs"]
    assert inputs["gradients[0]"][0].startswith("f32[3, 2] cuda:0")
    lifted = [text for name, (text, _) in inputs.items() if name.startswith("inputs[")]
    assert lifted and all("cuda:0" in text for text in lifted)


@pytest.mark.parametrize("cudagraphs", [False, True])
def test_the_scopes_tell_what_moves_and_why_the_rest_stays(cudagraphs: bool):
    script = Script()
    setting = inductor.patch({"triton.cudagraphs": cudagraphs})
    with setting, debugging(script, names=["runtime_wrapper"]), compiled_autograd.enable(lambda graph: graph) as runs:
        divide("cuda")
    scopes = script.stops[0].scopes
    title, rows = scopes["Compile"]["CPU scalars"]
    texts = [text for text, _ in rows.values()]
    if not cudagraphs:
        assert "move_graph_nodes_to_cuda" not in scopes["Passes"]
        assert title == "0 moved to CUDA of 2"
        assert all("cudagraphs is off" in text for text in texts)
        return
    (moved,) = runs[0].moved_to_cuda
    assert scopes["Passes"]["move_graph_nodes_to_cuda"][0] == f"chose inputs {moved} to move at run time"
    assert title == "1 moved to CUDA of 2"
    assert rows[f"inputs[{moved}]"][0] == "moved to CUDA before each run: pinned, then copied without waiting"
    assert sum("not an operator of PyTorch's own" in text for text in texts) == 1
    assert f"moved to CUDA: inputs[{moved}] (4 bytes, pinned)" in str(runs[0])


def test_tensors_of_the_program_are_evaluated_for_real_in_the_middle_of_a_capture():
    found: list[str] = []

    def inspect_stop(inspection: Any) -> None:
        found.append(evaluate(inspection, "(weight * 2).sum().item()"))
        found.append(evaluate(inspection, "str(gradients[0].device), gradients[0].shape"))

    script = Script()
    script.at_stop = inspect_stop
    with debugging(script, names=["ReadsScalar.backward"]), compiled_autograd.enable(lambda graph: graph):
        divide("cuda")
    assert found[0] == "12.0"
    assert "cuda:0" in found[1]


def test_two_streams_in_turn(gpu_table: Table):
    expected = [divide("cuda")]
    streams = [torch.cuda.Stream() for _ in range(2)]
    apart = []
    script = Script("stepIn")
    with debugging(script, names=["GraphRoot"]), compiled_autograd.enable(lambda graph: graph) as runs:
        for stream in streams * 2:
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                found = divide("cuda")
                assert torch.cuda.current_stream() == stream, "a stop left another stream current"
            stream.synchronize()
            apart.append(difference([found], expected))
    assert all(run.device_ms is not None for run in runs)
    assert [run.captured for run in runs] == [True, False, False, False]
    gpu_table.add("two streams in turn", "as captured", False, runs[-1], max(apart))


def two_halves() -> list[torch.Tensor | None]:
    """A forward whose halves run on streams of their own; the backward begins on the stream that joins them."""
    torch.manual_seed(0)
    weight = torch.randn(64, 64, device="cuda", requires_grad=True)
    current = torch.cuda.current_stream()
    streams = [torch.cuda.Stream() for _ in range(2)]
    halves = []
    for stream in streams:
        stream.wait_stream(current)
        with torch.cuda.stream(stream):
            halves.append((weight @ weight / torch.tensor(64.0)).sin().sum())
        current.wait_stream(stream)
    (halves[0] + 2 * halves[1]).backward()
    torch.cuda.synchronize()
    return [weight.grad]


@pytest.mark.parametrize("cudagraphs", [False, True])
def test_two_streams_in_one_backward(cudagraphs: bool, gpu_table: Table):
    expected = two_halves()
    script = Script("stepIn")
    setting = inductor.patch({"triton.cudagraphs": cudagraphs})
    with setting, debugging(script, names=["GraphRoot"]), compiled_autograd.enable(lambda graph: graph) as runs:
        apart = max(difference(two_halves(), expected) for _ in range(2))
    assert [run.captured for run in runs] == [True, False]
    gpu_table.add("two streams in one backward", "as captured", cudagraphs, runs[-1], apart)


def test_a_stop_waits_for_no_work_on_another_stream():
    expected = gradients("mlp")
    with compiled_autograd.enable(lambda graph: graph):
        gradients("mlp")  # what the first capture of a process loads takes longer than the work below
    compiled_autograd.reset()
    done = torch.cuda.Event()
    was_done: list[bool] = []
    script = Script("continue")
    script.at_stop = lambda inspection: was_done.append(done.query())
    with torch.cuda.stream(torch.cuda.Stream()):
        torch.cuda._sleep(4_000_000_000)  # cycles: two seconds at 2 GHz
        done.record()
    with debugging(script, names=["AddmmBackward0"]), compiled_autograd.enable(lambda graph: graph):
        found = gradients("mlp")
    assert was_done == [False, False], "reading the scopes of two stops waited for a stream of the program"
    assert done.query()
    difference(found, expected)


def test_other_threads_use_the_gpu_while_one_is_stopped_in_a_capture():
    expected = [divide("cuda")]
    sums: list[float] = []

    def work() -> None:
        with torch.cuda.stream(torch.cuda.Stream()):
            sums.append(float((torch.ones(64, 64, device="cuda") @ torch.ones(64, 64, device="cuda")).sum()))

    def at_stop(inspection: Any) -> None:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join(60)

    script = Script("stepIn")
    script.at_stop = at_stop
    with debugging(script, names=["GraphRoot"]), compiled_autograd.enable(lambda graph: graph):
        difference([divide("cuda")], expected)
    assert sums == [64.0**3] * len(script.stops)


def test_backwards_of_two_threads_each_on_its_stream():
    expected = [divide("cuda")]
    script = Script("stepIn")
    found: list[torch.Tensor] = []
    streams: list[bool] = []

    def train() -> None:
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            found.append(divide("cuda"))
            streams.append(torch.cuda.current_stream() == stream)
        stream.synchronize()

    with debugging(script, names=["GraphRoot"]), compiled_autograd.enable(lambda graph: graph) as runs:
        for _ in range(2):  # in turn: torch refuses two captured backwards at a time
            thread = threading.Thread(target=train)
            thread.start()
            thread.join(120)
        found.append(divide("cuda"))
    assert streams == [True, True]
    assert [run.captured for run in runs] == [True, False, False]
    assert all(run.device_ms is not None for run in runs)
    for gradient in found:
        difference([gradient], expected)


def test_stops_keep_no_memory_of_the_gpu():
    def allocated() -> int:
        gc.collect()
        torch.cuda.synchronize()
        return torch.cuda.memory_allocated()

    def debugged() -> None:
        compiled_autograd.reset()
        with debugging(Script("stepIn"), names=["GraphRoot"]), compiled_autograd.enable(lambda graph: graph):
            gradients("mlp")

    debugged()  # cuBLAS allocates its workspace once
    before = allocated()
    for _ in range(2):
        debugged()
    assert allocated() == before


def test_a_compiler_that_raises_leaves_the_gpu_usable():
    def refuses(graph: Any) -> Any:
        raise ValueError("no backend today")

    expected = [divide("cuda")]
    before = device_state()
    script = Script("stepIn")
    with debugging(script, names=["GraphRoot"]):
        with pytest.raises(ValueError, match="no backend today"), compiled_autograd.enable(refuses):
            divide("cuda")
        assert state() == OFF and device_state() == before
        with compiled_autograd.enable(lambda graph: graph) as runs:
            difference([divide("cuda")], expected)
    assert runs[0].captured


def test_a_hook_that_raises_is_reported_with_the_time_until_then():
    def raises(gradient: torch.Tensor) -> torch.Tensor:
        raise LookupError("in the hook")

    with compiled_autograd.enable(lambda graph: graph) as runs, pytest.raises(LookupError, match="in the hook"):
        weight = torch.ones(3, device="cuda", requires_grad=True)
        product = weight * 3
        product.register_hook(raises)
        product.sum().backward()
    assert runs[0].error == "LookupError: in the hook"
    assert runs[0].device_ms is not None
    difference([divide("cuda")], [divide("cuda")])
    assert state() == OFF


def test_the_gpu_is_usable_after_a_client_that_failed_at_every_stop():
    def fails(inspection: Any) -> None:
        raise RuntimeError("the client went away")

    script = Script("stepIn")
    script.at_stop = fails
    expected = [divide("cuda")]
    before = device_state()
    fails_the_test = pytest.raises(AssertionError, match="the client went away")
    enabled = compiled_autograd.enable(lambda graph: graph)
    with fails_the_test, debugging(script, names=["GraphRoot"]), enabled:
        difference([divide("cuda")], expected)
    assert device_state() == before
    difference([divide("cuda")], expected)
    assert state() == OFF
