"""Function breakpoints that name operators: which nodes each name stops at, and what is said of it."""

from __future__ import annotations

import operator
from pathlib import Path

import pytest
import torch
import torch._dynamo  # with it, names are checked
from dynascope.agent.breakpoints.hits import AgentBreakpoint
from dynascope.agent.breakpoints.kinds.node_names import NodeTable, may_name_node, message_about
from dynascope.agent.internals.graph.graph import names_of
from dynascope.wire.dap import FunctionBreakpoint

from tests.support.agent.scripted_session import ScriptedSession

pytestmark = pytest.mark.second_leg

HERE = Path(__file__)


def helper(x):
    x = x.view(-1)
    return torch.add(x, x)


def model(x, w):
    y = torch.mm(x, w)
    y = torch.ops.aten.mul.Tensor(y, 2)
    for _ in range(2):
        y = y + 1
    print(end="")
    return helper(torch.nn.functional.relu(y))


def node(op, target):
    graph = torch.fx.Graph()
    return graph.create_node(op, target, ())


def matches(name, op, target):
    table = NodeTable([(name, AgentBreakpoint(FunctionBreakpoint(id=1, name=name), None))])
    return bool(table.at(op, names_of(node(op, target))))


MM = torch.ops.aten.mm.default


@pytest.mark.parametrize(
    ("name", "op", "target"),
    [
        ("torch.ops.aten.mm", "call_function", MM),
        ("torch.ops.aten.mm.default", "call_function", MM),
        ("aten.mm", "call_function", MM),
        ("aten.*", "call_function", MM),
        ("mm", "call_function", MM),
        ("torch.add", "call_function", torch.add),
        ("torch.mm", "call_function", torch.mm),
        ("torch.*", "call_function", torch.mm),
        ("operator.add", "call_function", operator.add),
        ("_operator.add", "call_function", operator.add),
        ("add", "call_function", operator.add),
        ("a?d", "call_function", operator.add),
        ("torch.nn.functional.relu", "call_function", torch.nn.functional.relu),
        ("F.relu", "call_function", torch.nn.functional.relu),
        ("F.linear", "call_function", torch.nn.functional.linear),
        ("functional.relu", "call_function", torch.nn.functional.relu),
        ("view", "call_method", "view"),
        ("call_method view", "call_method", "view"),
        ("call_method  v*", "call_method", "view"),
        ("call_module", "call_module", "layers.0"),
        ("placeholder", "placeholder", "x"),
    ],
)
def test_a_name_names_a_node(name, op, target):
    assert may_name_node(name)
    assert matches(name, op, target)


@pytest.mark.parametrize(
    ("name", "op", "target"),
    [
        ("aten.mm", "call_function", torch.mm),
        ("torch.mm", "call_function", MM),
        ("torch.add", "call_function", operator.add),
        ("call_function view", "call_method", "view"),
        ("default", "call_function", MM),
        ("view", "placeholder", "view"),
        ("Block.forward", "call_function", torch.add),
        ("*", "call_function", torch.add),
    ],
)
def test_a_name_names_no_other_node(name, op, target):
    assert not matches(name, op, target)


@pytest.mark.parametrize("name", ["Block.forward", "outer.<locals>.inner", "*", "no_such_name_in_torch"])
def test_names_of_python_functions_are_no_nodes(name):
    assert not may_name_node(name)


def test_what_is_said_of_names():
    assert "AOTAutograd" in str(message_about("aten.mm"))
    assert "No operator torch.ops.aten.nothing" in str(message_about("torch.ops.aten.nothing"))
    assert "in functions of this name, and where a node that calls view" in str(message_about("view"))
    assert "node of this kind" in str(message_about("call_method view"))
    assert message_about("Block.forward") is None


def stops_at(*names, **more):
    session = ScriptedSession()
    asked = [FunctionBreakpoint(id=number, name=name, **more) for number, name in enumerate(names, 1)]
    assert all(state.verified for state in session.break_in(*asked))
    with session.attached():
        torch.compile(model, backend="eager")(torch.ones(2, 2), torch.ones(2, 2))
    assert {stop.message.reason for stop in session.stops} == {"function breakpoint"}
    return session


def test_each_node_stops_once_though_dynamo_traces_again():
    session = stops_at("torch.mm", "aten.mul", "operator.add", "torch.add", "call_method view")
    first = model.__code__.co_firstlineno
    here = helper.__code__.co_firstlineno
    assert [(stop.message.hit_breakpoint_ids, stop.frames[0].line) for stop in session.stops] == [
        ([1], first + 1),
        ([2], first + 2),
        ([3], first + 4),
        ([3], first + 4),
        ([5], here + 1),
        ([4], here + 2),
    ]
    assert [frame.name for frame in session.stops[-1].frames] == ["helper [1/0]", "model [1/0]"]
    text = "%mul_tensor = call_function[target=torch.ops.aten.mul.Tensor](args = (%y, 2)) enters the graph"
    assert session.stops[1].message.text == text


def test_hit_conditions_and_conditions_on_the_node():
    assert len(stops_at("operator.add", hit_condition="2").stops) == 1
    condition = "node.args[0].meta['example_value'].shape[0] == 2 and node.op == 'call_function' and w.ndim == 2"
    assert len(stops_at("torch.mm", condition=condition).stops) == 1
    assert len(stops_at("add", condition="node.args[1] == 1").stops) == 2


@pytest.mark.second_leg_only
def test_an_operator_of_a_captured_backward():
    session = ScriptedSession()
    session.break_in("aten.mm")
    weight = torch.ones(3, 3, requires_grad=True)

    def forward(x):
        return (x @ weight).sin().sum()

    with session.attached():
        compiled = torch.compile(forward, backend="aot_eager")
        with torch._dynamo.compiled_autograd._enable(torch.compile(backend="eager")):
            compiled(torch.ones(3, 3)).backward()
    assert [stop.frames[0].name.partition(" ")[0] for stop in session.stops] == ["CompiledFunctionBackward"]
    assert "target=torch.ops.aten.mm.default" in str(session.stops[0].message.text)
