"""CUDA inputs, with fakes in their place, on every machine; for real they are in `test_gpu.py`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from dynascope import compiled_autograd
from dynascope.agent.backward.runtime.runtime import RunReporter, inputs_by_device
from dynascope.agent.events.autograd.compiled_autograd import RunGiven
from dynascope.agent.internals.autograd.captured_graph import input_nodes, scalar_moves
from dynascope.agent.isolation.isolation import undisturbed
from torch._dynamo import compiled_autograd as dynamo
from torch._inductor import config as inductor

from tests.support.backward.engine_state import OFF, state
from tests.support.backward.gradients import gradients, same
from tests.support.backward.on_gpu import ON_ONE_GPU
from tests.support.backward.programs import PROGRAMS, divide
from tests.support.backward.scripted_debugger import Script, debugging

pytestmark = pytest.mark.second_leg

FakeTensor, FakeTensorMode = torch._subclasses.FakeTensor, torch._subclasses.FakeTensorMode


@pytest.fixture
def fake_cuda(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Captures see every input but scalars on `cuda:0`; what would be copied there at run time stays where it is."""
    wrap = dynamo.AutogradCompilerInstance.wrap_fake

    def wrap_fake(self: Any, tensor: torch.Tensor, source: Any) -> Any:
        fake = wrap(self, tensor, source)
        if tensor.dim() == 0 and not tensor.requires_grad:
            return fake
        with self.fake_tensor_mode:
            return torch.empty_like(fake, device="cuda")

    def cuda(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        if not isinstance(self, FakeTensor):
            return self
        with self.fake_mode:
            return torch.empty_like(self, device="cuda")

    monkeypatch.setattr(dynamo.AutogradCompilerInstance, "wrap_fake", wrap_fake)
    monkeypatch.setattr(torch.Tensor, "cuda", cuda)
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda self: self)
    with inductor.patch({"triton.cudagraphs": True}):
        yield


def test_the_scalar_that_only_operators_see_is_moved(fake_cuda: None):
    expected = divide()
    with compiled_autograd.enable(lambda graph: graph) as runs:
        for _ in range(2):
            assert torch.equal(divide(), expected)
    for run in runs:
        assert len(run.moved_to_cuda) == 2  # the divisor, and backward's own gradient of 1
        assert run.moved_bytes == 8
        assert "moved to CUDA" in str(run)
    assert state() == OFF


def test_the_scope_says_why_each_scalar_stays(fake_cuda: None):
    script = Script()
    with debugging(script, names=["runtime_wrapper"]), compiled_autograd.enable(lambda graph: graph):
        divide()
    scalars = script.stops[0].scopes["Compile"]["CPU scalars"]
    assert scalars[0] == "2 moved to CUDA of 3"
    texts = [value for value, _ in scalars[1].values()]
    assert sum("moved to CUDA before each run" in text for text in texts) == 2
    (stays,) = [text for text in texts if "stays on the CPU" in text]
    assert "call_backward" in stays and "not an operator of PyTorch's own" in stays
    assert "cuda:0" in str(script.stops[0].scopes["Inputs"])


def test_stops_with_cuda_inputs_change_nothing(fake_cuda: None):
    def graph_of() -> str:
        compiled_autograd.reset()
        seen: list[str] = []
        with dynamo._enable(lambda graph: seen.append(graph.print_readable(False)) or graph):
            divide()
        return seen[0]

    plain = graph_of()
    script = Script("stepIn")
    with debugging(script, names=["GraphRoot"]):
        assert graph_of() == plain
    assert len(script.stops) > 10


def test_without_cudagraphs_nothing_moves(fake_cuda: None):
    script = Script()
    off = inductor.patch({"triton.cudagraphs": False})
    with off, debugging(script, names=["runtime_wrapper"]), compiled_autograd.enable(lambda graph: graph) as runs:
        divide()
    assert runs[0].moved_to_cuda == ()
    assert "cudagraphs is off" in str(script.stops[0].scopes["Compile"]["CPU scalars"])


def test_inputs_are_counted_by_device():
    with FakeTensorMode():
        here = torch.empty(4, 4)
        there = torch.empty_like(here, device="cuda")
    counted = inputs_by_device([here, there, there])
    assert {device: (each.count, each.bytes) for device, each in counted.items()} == {
        "cpu": (1, 64),
        "cuda:0": (2, 128),
    }


def test_scalars_of_a_cpu_graph_say_so():
    graph = torch.fx.Graph()
    graph.placeholder("inputs")
    (move,) = scalar_moves(graph, [torch.tensor(1.0), torch.ones(3)])
    assert "no input is on CUDA" in str(move.stays_because)


@pytest.mark.second_leg_only
@pytest.mark.parametrize("name", ON_ONE_GPU)
def test_what_is_said_of_a_scalar_is_what_torch_does(name: str, fake_cuda: None, monkeypatch: pytest.MonkeyPatch):
    with compiled_autograd.record():  # from its first use on it has wrapped what is replaced here
        decide = dynamo.AutogradCompilerInstance.move_graph_nodes_to_cuda
    judged: list[tuple[list[int], list[int]]] = []

    def move_graph_nodes_to_cuda(self: Any, graph: torch.fx.Graph) -> list[int]:
        inputs = [node.meta["val"] for _, node in sorted(input_nodes(graph).items())]
        ours = [each.position for each in scalar_moves(graph, inputs) if each.stays_because is None]
        theirs = decide(self, graph)
        judged.append((ours, theirs))
        return theirs

    monkeypatch.setattr(dynamo.AutogradCompilerInstance, "move_graph_nodes_to_cuda", move_graph_nodes_to_cuda)
    expected = gradients(PROGRAMS[name])
    with compiled_autograd.enable(lambda graph: graph) as runs:
        assert same(gradients(PROGRAMS[name]), expected)
    ((ours, theirs),) = judged
    assert ours == theirs == list(runs[-1].moved_to_cuda)
    assert (runs[-1].moved_bytes > 0) == bool(theirs)


def fake_input() -> torch.Tensor:
    with FakeTensorMode():
        return torch.empty_like(torch.empty(4), device="cuda")


@pytest.mark.parametrize("capturing", [False, True])
def test_the_time_of_the_gpu_is_that_of_the_graph(monkeypatch: pytest.MonkeyPatch, capturing: bool):
    """Nothing waits until somebody asks; while the program itself records a CUDA graph, events would be part of it."""
    told: list[str] = []

    class Event:
        def __init__(self, enable_timing: bool) -> None:
            assert enable_timing

        def record(self) -> None:
            told.append("record")

        def synchronize(self) -> None:
            told.append("wait")

        def elapsed_time(self, end: Event) -> float:
            return 1.5

    given = RunGiven([torch.ones(3), fake_input()], [], [], [])
    compiler = type("Compiler", (), {})()
    recorder, runs = RunReporter(), []
    recorder.add(runs.append)
    with monkeypatch.context() as patch:
        patch.setattr(torch.cuda, "is_available", lambda: True)
        patch.setattr(torch.cuda, "is_initialized", lambda: True)
        patch.setattr(torch.cuda, "is_current_stream_capturing", lambda: capturing)
        patch.setattr(torch.cuda, "Event", Event)
        recorder.run_begins(compiler, given)
        recorder.graph_begins(compiler)
        told.append("graph")
        recorder.graph_ends(compiler)
        recorder.run_ends(compiler, None)
    assert told == (["graph"] if capturing else ["record", "graph", "record"])
    assert runs[0].device_ms == (None if capturing else 1.5)
    assert told[-1] == ("graph" if capturing else "wait")


def test_an_expression_leaves_the_random_numbers_of_the_gpu_as_they_were(monkeypatch: pytest.MonkeyPatch):
    generator = torch.Generator()
    before = generator.get_state()
    with monkeypatch.context() as patch:
        patch.setattr(torch.cuda, "is_available", lambda: True)
        patch.setattr(torch.cuda, "is_initialized", lambda: True)
        patch.setattr(torch.cuda, "default_generators", (generator,))
        with undisturbed():
            torch.rand(3, generator=generator)
            assert not torch.equal(generator.get_state(), before)
    assert torch.equal(generator.get_state(), before)
