"""What AOTAutograd and Inductor make of a graph is recorded as they made it, also after the compile has ended."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from dynascope.agent.recorder.recorder import Recorder
from dynascope.facts.generated.model import LaterForm
from dynascope.facts.in_progress import Board
from dynascope.facts.model import CompileFacts
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.partitioners import min_cut_rematerialization_partition

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="Inductor needs a C++ compiler")

INDUCTOR = ["cache key", "post-grad graph", "output code"]


def helper(t: torch.Tensor) -> torch.Tensor:
    return t.exp()  # line of helper


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(x)
        return (helper(y).cos() + y).sum()  # line of the call


def line_of(text: str) -> int:
    return next(at for at, line in enumerate(Path(__file__).read_text().splitlines(), 1) if line.endswith(f"# {text}"))


class Recorded:
    """What is recorded of one program: in its compiles, and later."""

    def __init__(self, backend: Any, keeps_generated: bool = True) -> None:
        torch._dynamo.reset()
        self.compiles: list[CompileFacts] = []
        self.later: list[tuple[str, LaterForm]] = []
        recorder = Recorder(
            lambda facts, trails: self.compiles.append(facts),
            lambda compile_id, what: self.later.append((compile_id, what)) if isinstance(what, LaterForm) else None,
            pytest.fail,
            Board(),
            keeps_generated,
        )
        try:
            torch.compile(Model(), backend=backend)(torch.randn(3, 4)).backward()
        finally:
            recorder.remove()


def nodes_of(module: Any) -> list[tuple[str, str, list[str]]]:
    return [(node.name, node.op, [each.name for each in node.all_input_nodes]) for node in module.graph.nodes]


def recorded_nodes(form: LaterForm) -> list[tuple[str, str, list[str]]]:
    (graph,) = form.graphs
    return [(node.name, node.op, [graph.nodes[at].name for at in node.inputs]) for node in graph.nodes]


def test_the_graphs_are_those_that_the_compilers_get():
    got: list[Any] = []

    def compiler(module: Any, inputs: Any) -> Any:
        got.append(nodes_of(module))
        return module.forward

    found = Recorded(aot_autograd(fw_compiler=compiler, partition_fn=min_cut_rematerialization_partition))
    (facts,) = found.compiles
    joint, forward, backward, _ = facts.forms
    assert [each.name for each in facts.forms] == ["joint graph", "forward graph", "backward graph", "saved values"]
    assert [recorded_nodes(forward), recorded_nodes(backward)] == got
    assert len(joint.graphs[0].nodes) > len(forward.graphs[0].nodes)
    (exp,) = [node for node in forward.graphs[0].nodes if node.name == "exp"]
    stack = forward.graphs[0].stacks[exp.stack]
    places = [(line_of("line of helper"), "helper"), (line_of("line of the call"), "forward")]
    assert [(each.line, each.function) for each in stack] == places and exp.value == "f32[3, 4]"


@pytest.mark.matrix
@needs_compiler
def test_what_inductor_makes_now_and_later(monkeypatch: pytest.MonkeyPatch):
    from torch._inductor.utils import fresh_inductor_cache

    with fresh_inductor_cache():
        first, cached = Recorded("inductor"), Recorded("inductor")
        monkeypatch.setattr("dynascope.agent.recorder.later.CODE_KEPT", 10)
        cut = Recorded("inductor").compiles[0].forms[-1]
    names = [each.name for each in first.compiles[0].forms]
    assert names == ["joint graph", "forward graph", "backward graph", "saved values", *INDUCTOR]
    assert [(at, each.name) for at, each in first.later] == [("0/0", f"backward {name}") for name in INDUCTOR]
    code = first.compiles[0].forms[-1]
    assert f"# File: {__file__}:{line_of('line of helper')} in helper" in code.text and "async_compile" in code.text
    made = INDUCTOR[1:]
    not_made, post_grad, *_ = cached.compiles[0].forms
    assert "found its result in its cache" in not_made.text
    assert re.match("from Inductor's cache, key ", post_grad.heading) and "aten.exp" in post_grad.text
    assert [each.name for each in cached.compiles[0].forms[1:]] == [*made, *(f"backward {name}" for name in made)]
    assert (cut.name, len(cut.text), cut.left_out > 100) == ("backward output code", 10, True)


def test_a_recording_without_graphs_has_none():
    found = Recorded("aot_eager", keeps_generated=False)
    assert found.compiles[0].compile.status == "compiled" and (found.compiles[0].forms, found.later) == ([], [])
