"""What data breakpoints stop at, how often, and what they say; which hooks they need."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from dynascope.agent.breakpoints.data import data_id
from dynascope.agent.events import torch_names, wrapping
from dynascope.wire.dap import DataAccess, DataBreakpoint

from tests.support.agent.scripted_session import ScriptedSession

pytestmark = pytest.mark.second_leg

HERE = Path(__file__)


class Counter:
    def __init__(self):
        self.count = 0
        self.names = {"a"}


LIMIT = 5


class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(2, 2)])
        self.register_buffer("total", torch.zeros(2))
        self.scale = 2.5

    def forward(self, x, settings):
        y = self.layers[0](x) * self.scale + LIMIT
        if self.training and settings["deep"]:
            y = y + 1
        self.total = self.total + y
        return y


class Late(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.state = Counter()

    def forward(self, x):
        y = x + 1
        self.flag = True
        self.state.last = y
        self.flag = False
        return y * 2


def changes(x):
    y = x + 1
    for _ in range(3):
        y = y * 2
    y = y.view(-1)
    y.unsqueeze_(0)
    y = y.double()
    n = 3
    n = n + 1
    return y, n


def grows(x):
    x = torch.cat([x, x])
    x = x.half()
    return x * 2


def mutates(x, items, table, counter):
    items.append(x)
    items[0] = 7
    table["b"] = x
    del table["a"]
    counter.count += 1
    counter.names.add("b")
    fresh = []
    fresh.append(x)
    return fresh


def decides(x):
    size = x.shape[0]
    if size > 3:
        x = x + 1
    if size == 8:
        x = x * 2
    return x


def breaks_later(x, items):
    items.append(1)
    y = x + 1
    y = y.half()
    print(end="")
    y = y.float()
    items.append(2)
    return y


def inner(values):
    values.append(1)
    for value in values:
        yield value * 2


def outer(x):
    values = [0]
    return x + sum(inner(values))


def watched(function, *arguments, what, access: DataAccess = "write", dynamic=False, **more):
    """The texts of the stops of one data breakpoint, without the lines they name."""
    session = ScriptedSession()
    text = f"local::{HERE}::{function.__name__}::{what}" if "::" not in what else what
    assert session.watch(DataBreakpoint(id=9, data_id=text, access_type=access, **more))[0].verified
    with session.attached():
        torch.compile(function, backend="eager", dynamic=dynamic)(*arguments)
    assert {stop.message.reason for stop in session.stops} <= {"data breakpoint"}
    assert all(stop.message.hit_breakpoint_ids == [9] for stop in session.stops)
    return [str(stop.message.text).rpartition(" (")[0] for stop in session.stops]


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("self.flag", ["self.flag is set to True", "self.flag is set to False"]),
        ("self.state.last", ["self.state.last is set to f32[2]"]),
    ],
)
def test_an_attribute_that_does_not_exist_yet_is_set(what: str, told: list[str]):
    assert watched(Late(), torch.ones(2), what=f"local::{HERE}::Late.forward::{what}") == told


def test_a_tensor_changes_shape_and_dtype_and_nothing_else_is_a_change():
    assert watched(changes, torch.ones(2, 3), what="y") == [
        "y: f32[2, 3] → f32[6]",
        "y: f32[6] → f32[1, 6]",
        "y: f32[1, 6] → f64[1, 6]",
    ]


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_part_of_a_tensor_changes(dynamic):
    (told,) = watched(grows, torch.ones(4), what="x.shape", dynamic=dynamic)
    assert told.startswith("x.shape: torch.Size([")
    assert watched(grows, torch.ones(4), what="x.dtype", dynamic=dynamic) == ["x.dtype: torch.float32 → torch.float16"]
    assert len(watched(grows, torch.ones(4), what="x.shape[0]", dynamic=dynamic)) == 1


def test_a_number_changes():
    assert watched(changes, torch.ones(2), what="n") == ["n: 3 → 4"]


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("items", ["items is mutated", "items is mutated"]),
        ("table", ["table is mutated", "table is mutated"]),
        ("counter.count", ["counter.count is set to 1"]),
        ("counter", ["counter.count is set"]),
        ("counter.names", ["counter.names is mutated"]),
        ("fresh", ["fresh is mutated"]),
        ("source::*::*::L['items']", ["L['items'] is mutated", "L['items'] is mutated"]),
        ("source::*::*::L['counter'].count", ["L['counter'].count is set"]),
    ],
)
def test_mutations(what, expected):
    arguments = torch.ones(2), [1], {"a": torch.ones(1)}, Counter()
    assert watched(mutates, *arguments, what=what) == expected


@pytest.mark.parametrize(
    "what", ["size", "x.shape[0]", "symbol::*::*::L['x'].shape[0]", "source::*::*::L['x'].size()[0]"]
)
def test_decisions_on_a_symbol(what):
    told = watched(decides, torch.ones(8), what=what, dynamic=True)
    symbol = told[0].split()[0]
    assert told == [
        f"{symbol} refined to [4, oo] by {symbol} > 3, where {symbol} is L['x'].shape[0]",
        f"{symbol} specialised to 8 by {symbol} == 8, where {symbol} is L['x'].shape[0]",
    ]


def test_guards_and_uses():
    told = watched(decides, torch.ones(8), what="x", access="read")
    assert told[0] == "guard TENSOR_MATCH on L['x'] installed"
    assert "x is an input of %add = call_function[target=operator.add](args = (%l_x_, 1))" in told
    assert watched(decides, torch.ones(8), what="source::*::*::L['x']", access="read")[0] == told[0]


@pytest.mark.second_leg_only
@pytest.mark.parametrize(
    ("what", "guard"),
    [
        ("self.training", "L['self'].training"),
        ("self.scale", "L['self'].scale"),
        ("self.layers[0].bias", "L['self']._modules['layers']._modules['0']._parameters['bias']"),
        ("settings['deep']", "L['settings']['deep']"),
        ("LIMIT", "G['LIMIT']"),
    ],
)
def test_guards_on_parts_of_what_comes_in(what, guard):
    told = watched(Module(), torch.ones(2), {"deep": True}, what=f"local::*::Module.forward::{what}", access="read")
    guards = [text for text in told if text.startswith("guard ")]
    assert guards and all(text.endswith(f" on {guard} installed") for text in guards)
    again = watched(Module(), torch.ones(2), {"deep": True}, what=f"source::*::*::{guard}", access="read")
    assert [text for text in again if text.startswith("guard ")] == guards


def test_a_buffer_is_set():
    told = watched(Module(), torch.ones(2), {"deep": True}, what="local::*::Module.forward::self.total")
    assert told == ["self.total is set to another f32[2]"]


def test_conditions_and_hit_conditions():
    uses = watched(changes, torch.ones(2), what="y", access="read", hit_condition="2")
    assert len(uses) == 1 and "mul_1" in uses[0]
    on_node = watched(changes, torch.ones(2), what="y", access="read", condition="node.target == 'view'")
    assert len(on_node) == 1 and "target=view" in on_node[0]


def test_a_moment_stops_once_however_often_it_is_retraced():
    told = watched(breaks_later, torch.ones(2), [], what="items")
    assert told == ["items is mutated", "items is mutated"]
    assert watched(breaks_later, torch.ones(2), [], what="y") == ["y: f32[2] → f16[2]", "y: f16[2] → f32[2]"]


def test_values_are_followed_into_inlined_generators():
    assert watched(outer, torch.ones(2), what="values") == ["values is mutated"]
    assert watched(outer, torch.ones(2), what=f"local::{HERE}::inner::values") == ["values is mutated"]


def test_dynamo_is_wrapped_only_while_a_breakpoint_needs_it():
    from torch import _guards
    from torch._dynamo import output_graph, side_effects
    from torch.fx.experimental import symbolic_shapes

    def seen() -> list[object]:
        environment = symbolic_shapes.ShapeEnv
        return [
            output_graph.SubgraphTracer.create_node,
            _guards.GuardsSet.add,
            environment._maybe_guard_rel,
            environment._set_replacement,
            side_effects.SideEffects.mutation,
            side_effects.SideEffects.store_attr,
        ]

    def kept() -> list[bool]:
        return [now is then for now, then in zip(seen(), idle, strict=True)]

    before = seen()
    session = ScriptedSession()
    with session.attached():
        idle = seen()
        assert [now is then for now, then in zip(idle, before, strict=True)] == [True, True, True, False, True, True], (
            "the timeline lists what is replaced"
        )
        session.watch(DataBreakpoint(id=1, data_id="local::*::*::x", access_type="read"))
        assert kept() == [False, False, True, True, True, True]
        session.watch(DataBreakpoint(id=1, data_id="local::*::*::x", access_type="write"))
        assert kept() == [True, True, False, True, False, False], "what the timeline has wrapped is not wrapped again"
        assert len(wrapping._wrapped[torch_names.SET_REPLACEMENT].subscribers) == 2
        session.watch()
        assert seen() == idle
        session.break_in("torch.add")
        assert output_graph.SubgraphTracer.create_node is not before[0]
    assert seen() == before


@pytest.mark.parametrize(
    ("name", "kind", "what"),
    [
        ("x", "local", "x"),
        ("self.layers[0].weight", "local", "self.layers[0].weight"),
        ("L['x']", "source", "L['x']"),
        ("s77", "symbol", "s77"),
        ("%add_1", "node", "add_1"),
    ],
)
def test_names(name, kind, what):
    found = data_id.of_name(name)
    assert (found.kind, found.what) == (kind, what)
    assert data_id.read(str(found)) == found
    assert data_id.info(name).data_id == str(found)


def test_a_name_may_say_its_function():
    found = data_id.of_name("model.py:Block.forward:self.scale")
    assert (found.function, found.what) == ("Block.forward", "self.scale")
    assert found.is_of(str(Path("model.py").absolute()), "Block.forward")
    assert not found.is_of(str(Path("other.py").absolute()), "Block.forward")


@pytest.mark.parametrize("name", ["x + 1", "f(x)", "", "x[i]", "1"])
def test_what_cannot_be_watched(name):
    assert data_id.info(name).data_id is None
