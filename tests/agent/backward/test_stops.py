"""Stops in a capture: every node of every program once, gradients those of eager, and the capture as without us."""

from __future__ import annotations

import functools
import gc
import linecache
import random
import re
import weakref
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch
from dynascope import compiled_autograd
from dynascope.agent.inspection.values import EvaluationError
from dynascope.agent.inspection.values.locations import captured as captured_sources
from torch._dynamo import compiled_autograd as dynamo
from torch._dynamo.utils import counters

from tests.support.backward.gradients import gradients, same
from tests.support.backward.programs import PROGRAMS, Program, doubles
from tests.support.backward.scripted_debugger import Script, debugging, evaluate
from tests.support.marks import one_in

pytestmark = pytest.mark.second_leg


def captured(build: Program) -> tuple[list[str], list[torch.Tensor | None], dict[str, Any]]:
    """The graphs and gradients of a backward under compiled autograd, and Dynamo's counters after it."""
    torch._dynamo.reset()
    compiled_autograd.reset()
    counters.clear()
    graphs: list[str] = []

    def keep(graph: Any) -> Any:
        traces = str([(node.name, node.meta.get("stack_trace")) for node in graph.graph.nodes])
        # compiled forwards are numbered for the life of the process
        graphs.append(re.sub(r"(aot|CompiledFunctionBackward)\d+", r"\1", graph.print_readable(False) + traces))
        return graph

    torch.manual_seed(0)
    loss, leaves = build()
    with dynamo._enable(keep):
        loss.backward()
    counted = {name: dict(counts) for name, counts in counters.items()}
    return graphs, [leaf.grad for leaf in leaves], counted


@pytest.mark.second_leg_only
@pytest.mark.parametrize("name", one_in(5, sorted(PROGRAMS)))
def test_every_node_stops_once_and_nothing_changes(name: str):
    build = PROGRAMS[name]
    eager = gradients(build)
    plain_graphs, plain_gradients, plain_counters = captured(build)
    states = random.getstate(), torch.get_rng_state().clone(), numpy.random.get_state()[1].copy()
    script = Script("stepIn")

    def inspect_stop(inspection: Any) -> None:
        repr((torch.ones(3, requires_grad=True) * 2).sum())  # what debugpy does to show a tensor of the program below
        evaluate(inspection, "any(each.shape[0] > 2 for each in inputs if each.ndim), gradients, sizes, len(reasons)")

    script.at_stop = inspect_stop
    with debugging(script, names=["GraphRoot"]), compiled_autograd.record() as runs:
        graphs, debugged, counted = captured(build)
    assert graphs == plain_graphs
    assert counted == plain_counters
    assert same(debugged, plain_gradients) and same(debugged, eager)
    assert random.getstate() == states[0] and torch.equal(torch.get_rng_state(), states[1])
    assert (numpy.random.get_state()[1] == states[2]).all()
    nodes = [stop.names[0] for stop in script.stops if "NodeCall" in stop.names[0] and "hook" not in stop.names[0]]
    expected = [f"{node} [!0 NodeCall {i}]" for i, node in enumerate(runs[0].node_calls)]
    assert nodes == expected
    assert len(set(nodes)) == len(nodes)


def run(build: Callable[[], Any]) -> None:
    torch.manual_seed(0)
    with compiled_autograd.enable(lambda graph: graph):
        build()


def names(script: Script) -> list[str]:
    return [stop.names[0] for stop in script.stops]


def chain() -> None:
    leaf = torch.ones(3, requires_grad=True)
    tripled = leaf * 3
    waved = tripled.sin()
    waved.sum().backward()


CHAIN = chain.__code__.co_firstlineno


@pytest.mark.parametrize(
    ("pattern", "stops"),
    [
        ("SinBackward0", ["SinBackward0 [!0 NodeCall 2]"]),
        ("Sin*", ["SinBackward0 [!0 NodeCall 2]"]),
        ("NodeCall 1", ["SumBackward0 [!0 NodeCall 1]"]),
        ("AccumulateGrad", ["torch::autograd::AccumulateGrad [!0 NodeCall 4]"]),
        ("CosBackward0", []),
        ("dce", ["dce [!0]"]),
        ("runtime_wrapper", ["runtime_wrapper [!0]"]),
    ],
)
def test_a_breakpoint_by_name_or_index(pattern: str, stops: list[str]):
    script = Script()
    with debugging(script, names=[pattern]):
        run(chain)
    assert names(script) == stops
    assert all(stop.reason == "function breakpoint" and stop.ids == [1] for stop in script.stops)
    if stops:
        assert script.stops[0].caller is chain.__code__
        assert script.stops[0].caller_line == CHAIN + 4


def test_a_breakpoint_on_a_custom_function():
    script = Script()
    with debugging(script, names=["Scale.backward"]):
        run(lambda: PROGRAMS["custom_function"]()[0].backward())
    assert names(script) == ["ScaleBackward [!0 NodeCall 2]"]


def test_a_breakpoint_on_the_forward_line():
    script = Script()
    with debugging(script, lines={__file__: [CHAIN + 3]}):
        run(chain)
    assert not torch.is_anomaly_enabled()
    assert names(script) == ["SinBackward0 [!0 NodeCall 2]"]
    stop = script.stops[0]
    assert stop.reason == "breakpoint"
    assert stop.lines[:2] == [(__file__, CHAIN + 3), (__file__, CHAIN + 4)]
    saved = stop.scopes["Saved Tensors"]
    ((value, below),) = saved.values()
    assert re.fullmatch(r"f32\[s\d+\]", value)
    assert below["shape"][1]["0"][0].endswith("= 3")
    assert below["saved at"][0] == f"{__file__}:{CHAIN + 3} in chain"


def test_noting_forward_lines_changes_no_graph_and_no_gradient():
    build = PROGRAMS["compiled_forward"]
    plain_graphs, plain_gradients, plain_counters = captured(build)
    with debugging(Script(), lines={__file__: [1]}):
        graphs, noted, counted = captured(build)
    assert graphs == plain_graphs and same(noted, plain_gradients) and counted == plain_counters


def test_a_step_goes_to_the_next_node_and_out_to_the_end_of_the_capture():
    script = Script("next", "next", "stepOut", "next", "continue")
    with debugging(script, names=["NodeCall 1"]):
        run(chain)
    assert names(script)[:3] == [
        f"{name}Backward0 [!0 NodeCall {i}]" for i, name in enumerate(("Sum", "Sin", "Mul"), 1)
    ]
    assert names(script)[3:] == ["delay_unpack_hook_nodes [!0]", "reorder_tensor_pre_hook_nodes [!0]"]
    assert [stop.reason for stop in script.stops[1:]] == ["step"] * 4


def test_the_stack_is_the_nodes_so_far():
    script = Script()
    with debugging(script, names=["MulBackward0"]):
        run(chain)
    assert [name.partition(" ")[0] for name in script.stops[0].names] == [
        "MulBackward0",
        "SinBackward0",
        "SumBackward0",
        "torch::autograd::GraphRoot",
    ]


def test_scopes_of_a_node():
    script = Script()
    with debugging(script, names=["SinBackward0"]):
        run(chain)
    scopes = script.stops[0].scopes
    assert list(scopes) == ["Inputs", "Sizes", "Scalars", "Hooks", "Saved Tensors", "Graph", "Compile"]
    inputs = scopes["Inputs"]
    assert inputs["gradients[0]"][0].startswith("f32[3]: as the forward recorded it")
    assert inputs["inputs[0]"][0] == "f32[] ← torch::autograd::GraphRoot (NodeCall 0)"
    assert scopes["Sizes"]["sizes[0]"][0].endswith("= 3 ← SumBackward0 (NodeCall 1)")
    assert any("a dummy" in value for value, _ in scopes["Graph"].values())
    compile_rows = {name: value for name, (value, _) in scopes["Compile"].items()}
    assert compile_rows["compile id"] == "!0"
    assert "new autograd node" in compile_rows["reason"]
    assert compile_rows["called as"] == "backward()"
    assert compile_rows["inputs"].endswith("on cpu")


def test_nodes_of_the_graph_lead_to_their_node_call():
    script = Script()
    with debugging(script, names=["runtime_wrapper"], lines={__file__: [1]}):
        run(chain)
    rows = {name: below for name, (_, below) in script.stops[0].scopes["Graph"].items()}
    sine = next(below for name, below in rows.items() if below.get("target", ("",))[0].endswith("SinBackward0"))
    assert sine["node"][0] == "SinBackward0 (NodeCall 2)"
    assert sine["forward line"][0] == f"{__file__}:{CHAIN + 3} in chain"


@pytest.mark.parametrize("pattern", ["tensor_pre_hook", "doubles"])
def test_hooks_stop_and_show_their_function(pattern: str):
    code = doubles.__code__
    script = Script()
    with debugging(script, names=[pattern]):
        run(hooked)
    stops = [stop for stop in script.stops if stop.names[0].startswith("doubles")]
    assert [stop.names[0] for stop in stops] == ["doubles (tensor_pre_hook) [!0 NodeCall 3]"]
    assert stops[0].lines[0] == (code.co_filename, code.co_firstlineno)


def hooked() -> None:
    leaf = torch.ones(3, requires_grad=True)
    middle = leaf * 3
    middle.register_hook(doubles)
    leaf.register_post_accumulate_grad_hook(lambda parameter: None)
    middle.exp().sum().backward()


def test_every_kind_of_hook_is_shown_with_its_place_when_the_graph_runs():
    kinds = set()
    for name in ("tensor_hooks", "node_hooks", "post_accumulate_grad_hooks", "saved_tensor_hooks"):
        script = Script()
        compiled_autograd.reset()
        with debugging(script, names=["runtime_wrapper"]):
            run(lambda name=name: PROGRAMS[name]()[0].backward())
        for _, below in script.stops[0].scopes["Hooks"].values():
            kinds.add(below["kind"][0])
            assert "programs.py" in below["place"][0]
    assert kinds == {"tensor_pre_hook", "pre_hook", "post_hook", "post_acc_grad_hook", "unpack_hook"}


def test_passes_say_what_they_did():
    script = Script()
    with debugging(script, names=["runtime_wrapper"]):
        run(lambda: PROGRAMS["compiled_forward"]()[0].backward())
    passes = script.stops[0].scopes["Passes"]
    assert "removed" in passes["dce"][0]
    removed = passes["dce"][1]["removed"][1]
    assert removed and all(text.startswith("%") for text, _ in removed.values())
    assert "moved" in passes["reorder_accumulate_grad_nodes"][0]
    before, after = passes["dce"][1]["before"], passes["dce"][1]["after"]
    assert len(before[1]) - len(after[1]) == len(removed)


def test_evaluation_finds_rows_and_says_what_it_cannot():
    found: list[str] = []
    numbers: list[str] = []

    def inspect_stop(inspection: Any) -> None:
        found.append(evaluate(inspection, "inputs[0]"))
        found.append(evaluate(inspection, "compile id"))
        found.append(evaluate(inspection, "gradients"))
        numbers.append(evaluate(inspection, "sizes"))
        with pytest.raises(EvaluationError, match="facts without data here: shape, dtype"):
            evaluate(inspection, "gradients[0] + 1")
        with pytest.raises(EvaluationError, match="'loss' is not defined"):
            evaluate(inspection, "loss + 1")

    script = Script()
    script.at_stop = inspect_stop
    with debugging(script, names=["SinBackward0"]):
        run(chain)
    assert found == ["f32[] ← torch::autograd::GraphRoot (NodeCall 0)", "!0", "[f32[3]]"]
    assert numbers and numbers[0].startswith("[3")


def test_a_backward_from_the_cache_does_not_stop():
    script = Script()
    with debugging(script, names=["SinBackward0"]):
        run(chain)
        run(chain)
    assert len(script.stops) == 1


def test_lines_of_the_captured_graph_lead_to_the_node_and_the_forward_line():
    modules: list[Any] = []
    with debugging(Script(), lines={__file__: [1]}):
        with compiled_autograd.enable(lambda graph: modules.append(graph) or graph):
            chain()
        file = modules[0].forward.__func__.__code__.co_filename
        source = linecache.getlines(file)
        line = next(i for i, text in enumerate(source, 1) if "ops.SinBackward0" in text or "SinBackward0(" in text)
        origin = captured_sources.origin(file, line)
        assert origin is not None
        assert (origin.compile_id, origin.index, origin.name) == ("!0", 2, "SinBackward0")
        assert origin.forward is not None and origin.forward.line == CHAIN + 3
        assert captured_sources.origin(file, 1) is None


def test_a_capture_that_fails_lets_go_and_the_next_one_stops():
    script = Script()
    with debugging(script, names=["SinBackward0"]):
        with pytest.raises(ValueError, match="refused"), compiled_autograd.enable(refuses):
            chain()
        run(chain)
    assert len(script.stops) == 2


def refuses(graph: Any) -> Any:
    raise ValueError("refused")


def test_nothing_is_kept_alive_after_a_backward():
    script = Script(reads=True)
    with debugging(script, names=["*"]):
        with compiled_autograd.enable(lambda graph: graph):
            leaf = torch.ones(3, requires_grad=True)
            hidden = leaf * 3
            gone = weakref.ref(hidden)
            loss = hidden.sin().sum()
            loss.backward()
        del hidden, loss
        script.stops.clear()
        gc.collect()
        assert gone() is None


def test_a_capture_that_torch_gives_up_leaves_no_mode_behind():
    def second_order() -> None:
        leaf = torch.ones(3, requires_grad=True)
        compiled = torch.compile(lambda x: x.sin() * 2, backend="aot_eager")
        torch.autograd.grad(compiled(leaf).sum(), leaf, create_graph=True)

    script = Script("stepIn", "stepIn", "continue")
    with debugging(script, names=["GraphRoot"]):
        with pytest.raises(RuntimeError, match="higher order gradients"):
            run(second_order)
        assert not torch.utils._python_dispatch._get_current_dispatch_mode_stack()
        run(chain)
    assert names(script)[-1] == "torch::autograd::GraphRoot [!1 NodeCall 0]"


def branched() -> None:
    weight = torch.ones(3, 3, requires_grad=True)
    bias = torch.ones(3, requires_grad=True)
    hidden = torch.ones(2, 3) @ weight + bias
    (hidden.exp() * 2 + hidden).sum().backward()


@pytest.mark.parametrize("at", ["GraphRoot", "MmBackward0", "runtime_wrapper"])
def test_what_is_lifted_is_told_with_the_node_that_it_is_lifted_for(at: str):
    """torch names another node beside the number wherever the backward branches."""
    script = Script()
    with debugging(script, names=[at]), compiled_autograd.record() as runs:
        run(branched)
    scopes = script.stops[0].scopes
    known = {f"{name} (NodeCall {i})" for i, name in enumerate(runs[0].node_calls)}
    lifted = [value.partition(" ← ")[2] for scope in ("Inputs", "Sizes") for value, _ in scopes[scope].values()]
    assert set(filter(None, lifted)) <= known
    inputs = {value for value, _ in scopes["Inputs"].values()}
    assert {f"ExpBackward0 (NodeCall {runs[0].node_calls.index('ExpBackward0')})"} <= {
        value.partition(" ← ")[2] for value in inputs
    }
    nodes = [below["node"][0] for _, below in scopes["Graph"].values() if "node" in below]
    assert nodes and set(nodes) <= known


def scales_inputs(module: Any, inputs: Any, outputs: Any) -> Any:
    return (inputs[0] * 3,)


def scales_outputs(module: Any, outputs: Any) -> Any:
    return (outputs[0] * 4,)


def hooked_module() -> None:
    layer = torch.nn.Linear(3, 2)
    layer.register_full_backward_hook(scales_inputs)
    layer.register_full_backward_pre_hook(scales_outputs)
    layer.bias.register_hook(functools.partial(torch.mul, other=0.5))
    layer.weight.register_hook(doubles)
    layer(torch.ones(4, 3, requires_grad=True)).sum().backward()


def test_hooks_of_a_module_are_the_users_functions_and_not_what_torch_makes_of_them():
    script = Script()
    with debugging(script, names=["runtime_wrapper"]):
        run(hooked_module)
    hooks = {below["function"][0]: below for _, below in script.stops[0].scopes["Hooks"].values()}
    assert set(hooks) == {"scales_inputs", "scales_outputs", "mul", "doubles"}
    for function in (scales_inputs, scales_outputs):
        code = function.__code__
        assert hooks[code.co_name]["place"][0] == f"{code.co_filename}:{code.co_firstlineno}"


def test_what_a_pass_moves_it_moves_behind_another_node():
    script = Script()
    with debugging(script, names=["runtime_wrapper"]):
        run(hooked_module)
    moved = [
        text
        for _, below in script.stops[0].scopes["Passes"].values()
        for text, _ in below.get("moved", ("", {}))[1].values()
    ]
    assert moved
    for text in moved:
        match = re.fullmatch(r"from after %(\w+) to after %(\w+)", text)
        assert match and match[1] != match[2], text


def test_packed_tensors_are_among_the_saved_and_the_root_has_no_line():
    script = Script()
    with debugging(script, names=["GraphRoot", "unpack_hook"], lines={__file__: [1]}):
        run(packs)
    root, unpacking = script.stops
    assert root.scopes["Saved Tensors"]["inputs[0]"][1]["saved at"][0].startswith("none: the engine makes this node")
    ((value, below),) = unpacking.scopes["Saved Tensors"].values()
    assert value == "packed; unpacked when the graph runs"
    assert below["saved at"][0] == f"{__file__}:{packs.__code__.co_firstlineno + 3} in packs"


def packs() -> None:
    leaf = torch.ones(3, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor * 1, lambda packed: packed):
        waved = leaf.sin()
    waved.sum().backward()
