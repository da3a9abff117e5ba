"""The values that a backward uses of its forward are those that autograd keeps, each with why and with its users."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from dynascope.agent.recorder.recorder import Recorder
from dynascope.facts.generated.model import LaterForm
from dynascope.facts.in_progress import Board
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.partitioners import default_partition, min_cut_rematerialization_partition


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(x)  # line of linear
        y = torch.nn.functional.dropout(y, 0.5)  # line of dropout
        z = (y + 1).cos().sin()  # line of cos
        return (z / z.sum()).sum()


def line_of(text: str) -> int:
    return next(at for at, line in enumerate(Path(__file__).read_text().splitlines(), 1) if line.endswith(f"# {text}"))


def trained(function: Any, x: torch.Tensor, partition: Any, **options: Any) -> tuple[LaterForm, LaterForm, Any]:
    """What is told of the saved values, the joint graph, and the result."""
    torch._dynamo.reset()
    forms: list[LaterForm] = []
    recorder = Recorder(lambda facts, _: forms.extend(facts.forms), lambda compile_id, what: None, pytest.fail, Board())
    backend = aot_autograd(fw_compiler=lambda module, inputs: module.forward, partition_fn=partition)
    try:
        result = torch.compile(function, backend=backend, **options)(x)
    finally:
        recorder.remove()
    by_name = {each.name: each for each in forms}
    return by_name["saved values"], by_name["joint graph"], result


def told(text: str) -> dict[str, list[str]]:
    """The comments below each value."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if (value := re.match(r"(\w+)(?: = .*)?  # (?!\w+ by)", line)) is not None:
            comments = found[value[1]] = []
        elif line.startswith(("# saved", "# used", "# and", "# returned")):
            comments.append(line)
    return found


@pytest.mark.filterwarnings("ignore:Your compiler for AOTAutograd")
def test_saved_values_are_those_that_autograd_keeps():
    saved, joint, result = trained(Model(), torch.randn(3, 4), min_cut_rematerialization_partition)
    kept, _, again = saved.text.partition("# What the backward computes again")
    values = told(kept)
    shapes = [tuple(map(int, re.findall(r"\d+", size))) for size in re.findall(r"  # \w+\[(.*?)\], \d", kept)]
    assert sorted(shapes) == sorted(tuple(each.shape) for each in result.grad_fn.saved_tensors)
    size = sum(each.numel() * each.itemsize for each in result.grad_fn.saved_tensors)
    assert saved.heading.startswith(f"{len(values)} of the forward's values, {size:,} bytes; ")
    (inputs,) = [each for name, each in values.items() if name.startswith("primals")]
    assert inputs[0] == "# saved: it is an input of the graph, which exists anyway" and ".mm." in inputs[1]
    assert re.search(r"^primals_\d+  # f32\[3, 4\], 48 bytes  x$", kept, re.MULTILINE)
    assert values["getitem_1"][0] == "# saved: computing it again would give other random numbers"
    place = f"# File: {__file__}:{line_of('line of dropout')} in forward"
    assert re.search(rf"{re.escape(place)}.*\ngetitem_1 = native_dropout\[1\]  # b8\[3, 4\], 12 bytes", kept)
    nodes = {node.name for node in joint.graphs[0].nodes}
    assert again and told(again).keys() <= nodes and not told(again).keys() & values.keys()
    assert all(each for each in told(again).values())
    computed = re.findall(r"^\w+ = .*  # .*\], (.*)$", again, re.MULTILINE)
    assert set(computed) == {"computed again"}, "`forms from` shows these lines without the heading"
    compile(saved.text, "saved values", "exec")


@pytest.mark.filterwarnings("ignore:Your compiler for AOTAutograd")
def test_what_is_used_often_and_what_is_expensive():
    def often(x: torch.Tensor) -> torch.Tensor:
        y = x @ x
        for _ in range(12):
            y = y + (x @ x) * y.detach()
        return y.sum()

    saved, _, _ = trained(often, torch.randn(3, 3, requires_grad=True), min_cut_rematerialization_partition)
    reasons = {name: comments[0] for name, comments in told(saved.text).items() if name.startswith("mm")}
    assert all("its operator is expensive" in each for each in reasons.values())
    assert re.search(r"# and by \d+ more", saved.text)


@pytest.mark.filterwarnings("ignore:Your compiler for AOTAutograd")
def test_a_partitioner_without_a_choice_and_symbolic_sizes():
    saved, _, result = trained(Model(), torch.randn(3, 4), default_partition, dynamic=True)
    values = told(saved.text)
    reasons = {each[0] for name, each in values.items() if not name.startswith("primals")}
    assert reasons == {"# saved: this partitioner saves all that the backward uses of the forward"}
    assert "of symbolic sizes" in saved.heading and len(values) >= len(result.grad_fn.saved_tensors)
