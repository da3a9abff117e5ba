"""`dynascope.compiled_autograd`: contexts that put back what was there, and a report of every backward."""

from __future__ import annotations

import functools
import subprocess
import sys
import threading
from typing import Any

import pytest
import torch
from dynascope import compiled_autograd
from torch._dynamo import compiled_autograd as dynamo
from torch._dynamo.utils import counters

from tests.support.backward.engine_state import OFF, state

pytestmark = pytest.mark.second_leg


def eager(graph: Any) -> Any:
    return graph


def backward(rows: int = 3, divisor: float | None = None) -> torch.Tensor:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    loss = model(torch.randn(rows, 4)).sum()
    (loss / divisor if divisor else loss).backward()
    gradient = model[0].weight.grad
    assert gradient is not None
    return gradient


def test_captures_inside_and_nowhere_else():
    expected = backward()
    with compiled_autograd.enable(eager) as runs:
        assert torch.equal(backward(), expected)
    backward()
    assert len(runs) == 1
    assert state() == OFF


def test_the_report_of_a_capture_and_of_a_reuse():
    with compiled_autograd.enable(eager) as runs:
        backward(3)
        backward(5)
        backward(3, divisor=2.0)
    first, second, third = runs
    assert [run.captured for run in runs] == [True, False, True]
    assert [run.compile_id for run in runs] == ["!0", "!0", "!1"]
    assert first.node_calls[:3] == ("torch::autograd::GraphRoot", "SumBackward0", "AddmmBackward0")
    assert "new autograd node: torch::autograd::GraphRoot" in first.reasons[0]
    assert "the same nodes" in second.reasons[0]
    assert "DivBackward0 (NodeCall 1)" in third.reasons[0]
    assert first.inputs["cpu"].count == 9 and first.bytes == first.inputs["cpu"].bytes > 0
    assert second.bytes > first.bytes
    assert first.capture_ms is not None and first.capture_ms > 0 and second.capture_ms is None
    assert first.graph_ms > 0 and first.prepare_ms > 0 and first.device_ms is None
    assert first.moved_to_cuda == () and first.moved_bytes == 0 and first.error is None
    assert "captured as graph !0, 11 nodes" in str(first)


def test_a_size_that_became_dynamic_is_the_reason():
    with compiled_autograd.enable(eager, dynamic=False) as runs:
        backward(3)
        backward(5)
        backward(6)
    assert [run.captured for run in runs] == [True, True, False]
    assert "changed tensor shapes" in runs[1].reasons[0]


def test_hooks_are_reported_with_their_place():
    def doubles(gradient: torch.Tensor) -> torch.Tensor:
        return gradient * 2

    weight = torch.ones(3, requires_grad=True)
    with compiled_autograd.enable(eager) as runs:
        product = weight * 3
        product.register_hook(doubles)
        weight.register_post_accumulate_grad_hook(lambda parameter: None)
        product.sum().backward()
    before, after = runs[0].hooks
    code = doubles.__code__
    assert (before.kind, before.path, before.line) == ("tensor_pre_hook", code.co_filename, code.co_firstlineno)
    assert before.function is not None and before.function.endswith("doubles")
    assert runs[0].node_calls[before.node_call] == "MulBackward0"
    assert after.kind == "post_acc_grad_hook" and "lambda" in (after.function or "")


def test_reports_of_reuses_share_what_is_the_same():
    weight = torch.ones(3, requires_grad=True)
    weight.register_hook(lambda gradient: gradient)
    with compiled_autograd.enable(eager) as runs:
        for _ in range(3):
            weight.grad = None
            weight.exp().sum().backward()
    for name in ("node_calls", "hooks", "inputs"):
        assert len({id(getattr(run, name)) for run in runs}) == 1
    assert runs[1].reasons is runs[2].reasons


def test_every_node_is_named():
    with compiled_autograd.enable(eager) as runs:
        backward()
    assert all(runs[0].node_calls)


def test_nesting_restores_the_outer_compiler():
    inner: list[Any] = []
    outer: list[Any] = []
    with compiled_autograd.enable(lambda graph: outer.append(1) or graph):
        before = state()
        with compiled_autograd.enable(lambda graph: inner.append(1) or graph):
            backward()
        assert state() == before
        backward(divisor=2.0)
    assert (len(inner), len(outer)) == (1, 1)
    assert state() == OFF


def test_disable_inside_enable():
    with compiled_autograd.enable(eager) as runs:
        with compiled_autograd.disable():
            backward()
            with compiled_autograd.enable(eager):
                backward()
            backward()
        before = len(runs)
        backward()
    assert (before, len(runs)) == (1, 2)
    assert state() == OFF


def test_an_exception_leaves_nothing_on():
    with pytest.raises(ZeroDivisionError), compiled_autograd.enable(eager):
        raise ZeroDivisionError
    assert state() == OFF


def test_a_compiler_that_raises_leaves_nothing_on_and_the_next_capture_works():
    def refuses(graph: Any) -> Any:
        raise ValueError("no backend today")

    expected = backward()
    for _ in range(2):
        with pytest.raises(ValueError, match="no backend today"), compiled_autograd.enable(refuses) as refused:
            backward()
        assert state() == OFF
        (run,) = refused
        assert (run.captured, run.capture_failed, run.error) == (False, True, "ValueError: no backend today")
        assert len(run.node_calls) == 11 and run.inputs["cpu"].count == 9
        assert "could not capture" in str(run) and "graph" not in str(run).splitlines()[-2]
    with compiled_autograd.enable(eager) as runs:
        assert torch.equal(backward(), expected)
    assert runs[0].captured and "did not say why" in runs[0].reasons[0]


def test_a_hook_that_raises_is_reported():
    def raises(gradient: torch.Tensor) -> torch.Tensor:
        raise LookupError("in the hook")

    with compiled_autograd.enable(eager) as runs, pytest.raises(LookupError, match="in the hook"):
        weight = torch.ones(3, requires_grad=True)
        product = weight * 3
        product.register_hook(raises)
        product.sum().backward()
    assert runs[0].error == "LookupError: in the hook"
    assert state() == OFF


@pytest.mark.parametrize("first_out", ["outer", "inner"])
def test_contexts_on_two_threads_end_in_any_order(first_out: str):
    outer = compiled_autograd.enable(eager)
    inner = compiled_autograd.enable(eager)
    outer.__enter__()
    thread_has_entered, leave = threading.Event(), threading.Event()

    def other() -> None:
        with inner:
            thread_has_entered.set()
            leave.wait(60)

    thread = threading.Thread(target=other)
    thread.start()
    assert thread_has_entered.wait(60)
    if first_out == "outer":
        outer.__exit__(None, None, None)
        assert dynamo.compiled_autograd_enabled
    leave.set()
    thread.join(60)
    if first_out == "inner":
        assert dynamo.compiled_autograd_enabled
        outer.__exit__(None, None, None)
    assert state() == OFF


def test_a_context_of_torch_that_outlasts_ours_does_not_turn_it_on_again():
    ours = compiled_autograd.enable(eager)
    theirs = dynamo._enable(eager)
    ours.__enter__()
    theirs.__enter__()
    ours.__exit__(None, None, None)
    theirs.__exit__(None, None, None)
    assert state() == OFF


def test_backward_on_another_thread_is_captured_too():
    results: list[torch.Tensor] = []
    expected = backward()
    with compiled_autograd.enable(eager) as runs:
        thread = threading.Thread(target=lambda: results.append(backward()))
        thread.start()
        thread.join(60)
    assert torch.equal(results[0], expected) and len(runs) == 1


def test_reset_forgets_graphs_and_open_contexts():
    with compiled_autograd.enable(eager) as runs:
        backward()
        compiled_autograd.reset()
        backward()
        assert state() == OFF
    assert state() == OFF
    with compiled_autograd.enable(eager) as again:
        backward()
    assert len(runs) == 1 and again[0].captured and again[0].compile_id == "!0"


def test_reset_inside_a_captured_backward_says_so():
    weight = torch.ones(3, requires_grad=True)
    weight.register_hook(lambda gradient: compiled_autograd.reset())
    with pytest.raises(RuntimeError, match="when backward"), compiled_autograd.enable(eager):
        (weight * 2).sum().backward()
    assert state() == OFF


def test_reset_while_a_backward_is_captured_says_so():
    def resets(graph: Any) -> Any:
        compiled_autograd.reset()

    with pytest.raises(RuntimeError, match="when backward"), compiled_autograd.enable(resets):
        backward()
    assert state() == OFF
    compiled_autograd.reset()


def test_a_compiler_that_returns_nothing_is_named():
    returns_nothing: Any = lambda graph: None  # noqa: E731
    with pytest.raises(TypeError, match="it returned None"), compiled_autograd.enable(returns_nothing) as runs:
        backward()
    assert state() == OFF and runs[0].capture_failed


def test_an_error_of_several_lines_keeps_its_point():
    def backend(graph: Any, inputs: Any) -> Any:
        raise ValueError("not on a Friday")

    compiler = functools.partial(torch.compile, backend=backend)
    with pytest.raises(Exception, match="Friday"), compiled_autograd.enable(compiler) as runs:
        backward()
    assert "not on a Friday" in (runs[0].error or "")


def test_the_text_of_a_report_counts_and_places_hooks():
    one, two = (torch.ones(1, requires_grad=True) for _ in range(2))

    def hook(gradient: torch.Tensor) -> torch.Tensor:
        return gradient

    def backwards(*hooked: torch.Tensor) -> list[str]:
        for weight in hooked:
            weight.register_hook(hook)
        one.grad = two.grad = None
        (one * two).backward()
        return str(runs[-1]).splitlines()

    place = f"{__file__}:{hook.__code__.co_firstlineno}"
    with compiled_autograd.enable(eager) as runs:
        first, second, third = backwards(one), backwards(two), backwards()
    assert "4 nodes, 1 hook" in first[0] and "1 hooks" not in first[0]
    assert first[3].startswith("  tensor_pre_hook of NodeCall ") and first[3].endswith(f"hook ({place})")
    assert "2 hooks" in second[0] and second[3].startswith("  tensor_pre_hook of NodeCall 2, 3: ")
    assert "2 hooks" in third[0] and not any("tensor_pre_hook" in line for line in third)


def test_what_a_debugger_saw_captured_is_known_when_it_is_reused(monkeypatch: pytest.MonkeyPatch):
    from dynascope.agent.backward.runtime import runtime

    from tests.support.backward.scripted_debugger import Script, debugging

    monkeypatch.setattr(runtime, "_recorder", None)  # as in a process that has not used the runtime yet
    with debugging(Script(), names=["SumBackward0"]):
        with dynamo._enable(eager):
            backward()
        with compiled_autograd.enable(eager) as runs:
            backward()
    assert not runs[0].captured and len(runs[0].node_calls) == 11


FORKS = """
import os, signal, threading
from dynascope import compiled_autograd
with compiled_autograd.enable(lambda graph: graph):
    pass  # imports what it needs
done = threading.Event()
def toggle():
    while not done.is_set():
        with compiled_autograd.enable(lambda graph: graph), compiled_autograd.disable():
            pass
thread = threading.Thread(target=toggle)
thread.start()
try:
    for _ in range(30):
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            with compiled_autograd.enable(lambda graph: graph):
                pass
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
finally:
    done.set()
"""


@pytest.mark.matrix
def test_a_fork_while_another_thread_enters_a_context_leaves_the_child_free():
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKS], check=True, timeout=300)


def test_force_eager_captures_nothing():
    with torch.compiler.set_stance("force_eager"), compiled_autograd.enable(eager) as runs:
        backward()
    assert runs == []


def test_what_is_not_callable_is_refused():
    backend: Any = "inductor"
    with pytest.raises(TypeError, match=r"torch\.compile"), compiled_autograd.enable(backend):
        pass


def test_record_reports_what_the_config_captures():
    model = torch.nn.Linear(4, 2)

    def step(inputs: torch.Tensor) -> None:
        model.zero_grad()
        model(inputs).sum().backward()

    with torch._dynamo.config.patch(compiled_autograd=True), compiled_autograd.record() as runs:
        step = torch.compile(step, backend="eager")
        step(torch.randn(3, 4))
        step(torch.randn(3, 4))
    assert [run.captured for run in runs] == [True, False]
    assert state() == OFF


def test_gradients_through_torch_compile_equal_eager():
    expected = backward(divisor=3.0)
    with compiled_autograd.enable(torch.compile(backend="aot_eager")) as runs:
        for rows in (3, 3):
            assert torch.allclose(backward(rows, divisor=3.0), expected)
    assert [run.captured for run in runs] == [True, False]


@pytest.mark.second_leg_only
def test_observing_changes_neither_graph_nor_counters():
    def run(enable: Any) -> tuple[list[str], dict[str, Any]]:
        torch._dynamo.reset()
        compiled_autograd.reset()
        counters.clear()
        graphs: list[str] = []

        def keep(graph: Any) -> Any:
            graphs.append(graph.print_readable(print_output=False))
            return torch.compile(graph, backend=lambda traced, _: graphs.append(traced.code) or traced)

        with enable(keep):
            for rows, divisor in ((3, None), (5, None), (3, 2.0)):
                backward(rows, divisor)
        return graphs, {name: dict(counts) for name, counts in counters.items()}

    assert run(compiled_autograd.enable) == run(dynamo._enable)


def test_importing_the_door_imports_no_torch():
    code = "import sys, dynascope.compiled_autograd; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_second_capture_is_explained_by_the_first():
    leaf = torch.ones(3, requires_grad=True)
    with compiled_autograd.enable(eager) as runs:
        (leaf * 3).sum().backward()
        (leaf * 3).exp().sum().backward()
        (leaf * 3).sum().backward()
    assert "no backward in the cache begins" in runs[0].reasons[1]
    assert runs[1].reasons[1] == "like !0 up to there, which continues with MulBackward0"
    assert runs[2].reasons[1] == "!0 has the same node there, but `.grad`: None there, float32 on cpu here"


def test_a_size_that_became_dynamic_is_explained():
    with compiled_autograd.enable(eager, dynamic=False) as runs:
        backward(3)
        backward(5)
    assert "sizes became dynamic" in runs[1].reasons[1] and "SumBackward0 (NodeCall 1)" in runs[1].reasons[1]
