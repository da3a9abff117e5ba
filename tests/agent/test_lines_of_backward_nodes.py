"""Nodes of a compiled backward are recorded with the lines that eager's anomaly mode has for the same operations."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from dynascope.facts.generated.model import Graph, GraphNode
from torch._inductor.decomposition import select_decomp_table
from torch.utils._python_dispatch import TorchDispatchMode

from tests.support.agent.recording import recording

pytestmark = pytest.mark.matrix

TORCH = str(Path(torch.__file__).resolve().parent)
FRAME = re.compile(r'File "(.+?)", line (\d+)')
TOKENS = torch.arange(16).reshape(2, 8)
Line = tuple[str, int] | None


class OperationsOfBackward(TorchDispatchMode):
    """The operators that a backward of eager mode calls, with the lines of the forward in anomaly mode."""

    def __init__(self, decompositions: dict[Any, Callable[..., Any]]) -> None:
        super().__init__()
        self.decompositions = decompositions
        self.found: list[tuple[str, Line]] = []

    def __torch_dispatch__(self, operator: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if operator in self.decompositions:
            with self:
                result = self.decompositions[operator](*args, **(kwargs or {}))
            if result is not NotImplemented:
                return result
        node = torch._C._current_autograd_node()  # type: ignore[attr-defined]
        stack = "".join(node.metadata.get("traceback_", ())) if node is not None else ""
        # facts have paths without symbolic links: a virtual environment may be reached by one
        frames = [(str(Path(path).resolve()), int(number)) for path, number in FRAME.findall(stack)]
        lines = [each for each in frames if not each[0].startswith(TORCH)]
        self.found.append((str(operator), lines[-1] if lines else None))
        return operator(*args, **(kwargs or {}))


def llama() -> torch.nn.Module:
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    return LlamaForCausalLM(LlamaConfig(vocab_size=64, num_key_value_heads=2, max_position_embeddings=64, **sizes))


def loss_of(model: Any) -> Any:
    return model(input_ids=TOKENS, labels=TOKENS).loss


def operations_in_eager_mode(model: torch.nn.Module, decompositions: dict[Any, Any]) -> list[tuple[str, Line]]:
    with torch.autograd.detect_anomaly(check_nan=False):
        loss = loss_of(model)
        with OperationsOfBackward(decompositions) as operations:
            loss.backward()
    return operations.found


def nodes_of_backward(graph: Graph) -> list[GraphNode]:
    """Return the nodes of a joint graph that depend on the gradients of its outputs."""
    found: dict[int, GraphNode] = {}
    for number, node in enumerate(graph.nodes):
        if node.name.startswith("tangents") or not found.keys().isdisjoint(node.inputs):
            found[number] = node
    return [node for node in found.values() if node.target.startswith("torch.ops.")]


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
@pytest.mark.parametrize("what", ["the step", "the model"])
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_nodes_of_a_llamas_backward_have_the_lines_of_eager_mode(backend: str, what: str) -> None:
    pytest.importorskip("transformers")
    model = llama()
    truth = operations_in_eager_mode(model, dict(select_decomp_table()) if backend == "inductor" else {})
    torch._dynamo.reset()
    with torch._inductor.config.patch(force_disable_caches=True), recording() as compiles:
        if what == "the step":
            torch.compile(loss_of, backend=backend)(model)
        else:
            loss_of(torch.compile(model, backend=backend))
    (joint,) = [form.graphs[0] for each in compiles for form in each.forms if form.name == "joint graph"]
    nodes = nodes_of_backward(joint)
    assert len(nodes) > 200

    operators = [node.target.removeprefix("torch.ops.") for node in nodes]
    equal = difflib.SequenceMatcher(None, operators, [name for name, _ in truth], autojunk=False).get_matching_blocks()
    pairs = [(nodes[block.a + at], truth[block.b + at][1]) for block in equal for at in range(block.size)]
    assert len(pairs) > 0.9 * len(nodes)
    places = [(joint.place_of(node), line) for node, line in pairs]
    right = sum(place is not None and (place.path, place.line) == line for place, line in places)
    assert right > 0.95 * len(pairs), [
        each for each in places if each[0] is None or (each[0].path, each[0].line) != each[1]
    ]
    modules = {node.module for node, _ in pairs}
    assert any(each.endswith("layers.1.self_attn.q_proj") for each in modules), modules
