"""The graphs and the bytecode that are recorded are those that the backend got and that runs."""

from __future__ import annotations

import dis
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from dynascope.agent.internals.codegen.generated import listing
from dynascope.facts.generated import model
from dynascope.facts.generated.model import Graph, users_name
from dynascope.facts.model import CompileFacts

from tests.support.agent.recording import recording

library: Any = None


class Mlp(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate_proj = torch.nn.Linear(4, 4)
        self.register_buffer("scale", torch.ones(4))

    def forward(self, x: Any) -> Any:
        return self.gate_proj(x) * self.scale  # line of Mlp


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.ModuleDict({"mlp": Mlp()}) for _ in range(2)])

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer["mlp"](x)  # line of the call
        return torch.cond(x.sum() > 0, lambda a: a + 1, lambda a: a - 1, (x,))  # line of cond


def line_of(text: str) -> int:
    return next(at for at, line in enumerate(Path(__file__).read_text().splitlines(), 1) if line.endswith(f"# {text}"))


def compiled(function: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[list[CompileFacts], list[Any]]:
    """What is recorded, and the graphs that the backend gets."""
    torch._dynamo.reset()
    modules: list[Any] = []

    def backend(module: Any, inputs: Any) -> Any:
        modules.append(module)
        return module.forward

    with recording() as found:
        torch.compile(function, backend=backend, **options)(*arguments)
    return found, modules


def recorded_as(module: Any) -> list[tuple[str, str, list[str]]]:
    """The nodes of a graph: name, op, inputs."""
    return [(node.name, node.op, [each.name for each in node.all_input_nodes]) for node in module.graph.nodes]


def written(graph: Graph) -> list[tuple[str, str, list[str]]]:
    return [(node.name, node.op, [graph.nodes[at].name for at in node.inputs]) for node in graph.nodes]


def test_the_graph_is_that_of_the_backend():
    (facts,), (module,) = compiled(Model(), torch.ones(3, 4))
    names = [graph.name for graph in facts.graphs]
    assert names == ["forward", *(name for name, _ in module.named_children())] and len(names) == 3
    parts = [module, *module.children()]
    assert list(map(written, facts.graphs)) == list(map(recorded_as, parts))
    assert facts.compile.nodes == sum(node.op.startswith("call") for node in facts.graphs[0].nodes)
    assert not any(graph.left_out for graph in facts.graphs)


def test_nodes_have_the_users_lines_and_names():
    (facts,), _ = compiled(Model(), torch.ones(3, 4))
    forward, branch, _ = facts.graphs
    inputs = {node.source: node.value for node in forward.nodes if node.op == "placeholder"}
    expected = {"x": "f32[3, 4]"}
    for layer in ("layers.0.mlp", "layers.1.mlp"):
        expected |= {f"{layer}.gate_proj.weight": "f32[4, 4]", f"{layer}.gate_proj.bias": "f32[4]"}
        expected[f"{layer}.scale"] = "f32[4]"
    assert inputs == expected
    linear = [node for node in forward.nodes if node.target.endswith("linear")]
    assert [node.module for node in linear] == ["layers.0.mlp.gate_proj", "layers.1.mlp.gate_proj"]
    assert [node.module for node in forward.nodes if node.op == "call_method"] == [""]  # of the compiled module itself
    assert linear[0].text.startswith("linear = torch._C._nn.linear(l_x_, ")
    lines = [(each.path, each.line, each.function) for each in forward.stacks[linear[0].stack]]
    assert lines == [  # none of torch's own
        (__file__, line_of("line of Mlp"), "forward"),
        (__file__, line_of("line of the call"), "forward"),
    ]
    (add,) = [node for node in branch.nodes if node.op == "call_function"]
    place = branch.place_of(add)
    assert place is not None and (place.line, add.text) == (
        line_of("line of cond"),
        f"add = {branch.nodes[add.inputs[0]].name} + 1",
    )


OTHER_LIBRARY = """\
def rearranged(x):
    return x.t()
"""
LIBRARY = """\
import torch
from library_of_functions import rearranged

class Layer(torch.nn.Module):
    def __init__(self, inner=None):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        y = x.sin()
        z = rearranged(y)
        return z if self.inner is None else self.inner(z)

def helper(x):
    return x.exp()
"""


class Own(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return library.helper(x)  # line of the helper


def test_operations_of_a_librarys_model_have_its_lines_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "site-packages"
    for package in ("library_of_layers", "library_of_functions"):
        (folder / package).mkdir(parents=True)
    path = folder / "library_of_layers" / "__init__.py"
    path.write_text(LIBRARY)
    (folder / "library_of_functions" / "__init__.py").write_text(OTHER_LIBRARY)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setitem(globals(), "library", importlib.import_module("library_of_layers"))
    model = library.Layer(Own())

    def step(x: Any) -> Any:
        return model(x)  # line of step

    (facts,), _ = compiled(step, torch.ones(3, 4))
    (graph,) = facts.graphs
    lines = {
        node.name: [(each.path, each.line) for each in graph.stacks[node.stack]]
        for node in graph.nodes
        if node.op == "call_method"
    }
    called = (__file__, line_of("line of step"))
    assert lines == {
        "y": [(str(path), 10), called],
        "z": [(str(path), 11), called],  # not that of the function that the model calls
        "exp": [(__file__, line_of("line of the helper")), called],
    }


def test_each_part_of_a_broken_function_has_its_graph():
    def broken(x: Any) -> Any:
        y = x.relu()
        torch._dynamo.graph_break()
        return y.sin()

    found, modules = compiled(broken, torch.ones(3))
    assert [list(map(written, facts.graphs)) for facts in found] == [[recorded_as(module)] for module in modules]
    assert len(found) == 2
    assert all(facts.bytecode is not None and "__compiled_fn" in facts.bytecode.text for facts in found)
    assert found[0].bytecode is not None and "__resume_at_" in found[0].bytecode.text


def test_a_graph_that_the_backend_refuses_is_kept():
    def refuses(module: Any, inputs: Any) -> Any:
        raise RuntimeError("no kernel")

    torch._dynamo.reset()
    with recording() as found, pytest.raises(Exception, match="no kernel"):
        torch.compile(lambda x: x.sin(), backend=refuses)(torch.ones(3))
    (facts,) = found
    assert [node.name for node in facts.graphs[0].nodes][:2] == ["l_x_", "sin"]
    assert facts.bytecode is None


def test_what_is_too_large_is_cut_and_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("dynascope.agent.internals.graph.code.NODES_KEPT", 3)
    monkeypatch.setattr(model, "TEXT_KEPT", 12)
    monkeypatch.setattr("dynascope.agent.internals.codegen.generated.CODE_KEPT", 10)
    (facts,), (module,) = compiled(lambda x: x.sin().cos().tan(), torch.ones(3))
    (graph,) = facts.graphs
    assert (len(graph.nodes), graph.left_out) == (3, len(module.graph.nodes) - 3)
    assert graph.nodes[1].text == "sin = l_x_.…"
    assert facts.bytecode is not None and (len(facts.bytecode.text), facts.bytecode.left_out > 100) == (10, True)


class Hostile:
    def __repr__(self) -> str:
        raise AssertionError("the program's own code was called")

    def __getattr__(self, name: str) -> Any:
        raise AssertionError("the program's own code was called")


def test_a_listing_calls_nothing_of_the_program():
    def outer() -> Any:
        def inner() -> Any:
            return 1, "text"

        return inner

    nested = outer.__code__
    code = nested.replace(co_consts=(*nested.co_consts, Hostile(), {"globals": Hostile()}))
    text = listing(code)
    assert "LOAD_CONST" in text or "RETURN_CONST" in text
    instructions = [each.opname for each in dis.get_instructions(nested)]
    assert all(name in text for name in instructions) and "'text'" in text


@pytest.mark.parametrize(
    "expression, name",
    [
        ("L['self']._modules['layers']._modules['0']._parameters['weight']", "layers.0.weight"),
        ("L['self'].layers.0", "layers.0"),
        ("L['self']", "self"),
        ("L['model']._modules['head']._buffers['scale']", "model.head.scale"),
        ("G['net']._modules['a-b']._parameters['w']", "net.a-b.w"),
        ("L['x'].size()[0]", "x.size()[0]"),
        ("L['self'].sizes[0]", "sizes[0]"),
    ],
)
def test_names_are_those_of_the_program(expression: str, name: str):
    assert users_name(expression) == name
