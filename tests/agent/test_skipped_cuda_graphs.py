"""Why Inductor runs a graph without CUDA graphs is recorded, at the line that torch names, and told with a remedy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from dynascope.agent.recorder.later import cuda_graphs_skipped
from dynascope.agent.recorder.recorder import Recorder
from dynascope.facts.generated.model import LaterForm
from dynascope.facts.in_progress import Board
from dynascope.facts.model import CompileFacts, CudaGraphsSkipped
from dynascope.facts.profile import Profile
from torch._inductor import output_code

from tests.support.dap.client import adapter_environment
from tests.support.marks import PROGRAMS, line

pytestmark = pytest.mark.second_leg
PROGRAM = PROGRAMS / "gpu" / "without_cuda_graphs.py"
MUTATED = "skipping cudagraphs due to mutated inputs (1 instances)"


def add(total: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    total.add_(x.sum())
    return total * 2  # line of the end


@pytest.mark.parametrize("is_named", [True, False])
def test_a_reason_in_a_compile_is_at_the_line_that_torch_names_or_where_the_graph_ends(is_named: bool) -> None:
    at = add.__code__.co_firstlineno + 1
    found = f'. Found from : \n   File "{__file__}", line {at}, in add\n    total.add_(x.sum())\n' if is_named else ""

    def backend(graph: Any, inputs: Any) -> Any:
        for _ in range(2):
            output_code.log_cudagraph_skip_and_bump_counter(MUTATED + found)
        return graph.forward

    compiles: list[CompileFacts] = []
    torch._dynamo.reset()
    recorder = Recorder(lambda facts, trails: compiles.append(facts), lambda *later: None, pytest.fail, Board())
    try:
        torch.compile(add, backend=backend)(torch.zeros(()), torch.ones(4))
    finally:
        recorder.remove()
    (fact,) = compiles[0].cuda_graphs_skipped
    assert (fact.path, fact.line) == (__file__, at if is_named else at + 1)
    assert fact.reason == "mutated inputs (1 instances)"


def test_a_reason_after_the_compile_is_written_once() -> None:
    """Where torch knows no line, it is at the function's."""
    later: list[tuple[str, Profile | LaterForm | CudaGraphsSkipped]] = []
    torch._dynamo.reset()
    recorder = Recorder(
        lambda *_: None, lambda compile_id, what: later.append((compile_id, what)), pytest.fail, Board()
    )
    try:
        torch.compile(add, backend="eager")(torch.zeros(()), torch.ones(4))
        for _ in range(2):
            recorder._later.cuda_graphs_skipped("0/0", cuda_graphs_skipped(MUTATED))
        recorder._later.cuda_graphs_skipped("7/0", cuda_graphs_skipped(MUTATED))
    finally:
        recorder.remove()
    ((compile_id, fact),) = later
    assert isinstance(fact, CudaGraphsSkipped)
    assert (compile_id, fact.path, fact.line) == ("0/0", __file__, add.__code__.co_firstlineno)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("skipping cudagraphs due to cpu device (arg1_1). Found from : \n", "cpu device (arg1_1)"),
        ("skipping cudagraph due to function 0 exceeding max", "function 0 exceeding max"),
        ("disabling cudagraphs for backward due to override", "for backward due to override"),
        ("disabling cudagraphs due to override_cudagraphs annotation", "override_cudagraphs annotation"),
    ],
)
def test_the_reason_is_what_torch_says_of_it(text: str, reason: str) -> None:
    assert cuda_graphs_skipped(text).reason == reason


@pytest.mark.cuda
def test_a_graph_that_writes_into_its_argument_is_reported(tmp_path: Path) -> None:
    """Inductor finds it when the graph is about to run, after the compile."""
    environment = adapter_environment({"DYNASCOPE_FACTS": str(tmp_path)})
    for command in (["run", str(PROGRAM), "cuda"], ["report", "--all"]):
        told = subprocess.run(
            [sys.executable, "-m", "dynascope", *command],
            env=environment,
            capture_output=True,
            text=True,
            timeout=240,
        )
        assert told.returncode == 0, told.stderr
    report = told.stdout
    assert report.count("Skipped CUDA graph ") == 1, report
    assert f"{PROGRAM.name}:{line(PROGRAM, 'written')}  [0/0]\n  mutated inputs (1 instances)\n" in report
    assert "torch._dynamo.mark_static_address" in report
