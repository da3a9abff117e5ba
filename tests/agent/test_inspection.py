"""What the scopes of a stop show, and how."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import types
from typing import Any

import pytest
import torch
from dynascope.agent.internals.compile.failed_guard import guarded_object, value_text
from dynascope.facts.recompiles.guarded_value import GuardedValue

from tests.support.nonperturbation.stopped import Refused, Stopped, stop_in

pytestmark = pytest.mark.second_leg

Pair = collections.namedtuple("Pair", "first second")
COUNT = 0
TABLE = {"scale": 2.0}


@dataclasses.dataclass
class Settings:
    scale: int = 3
    name: str = "settings"


class Color(enum.Enum):
    RED = 1


class Hostile:
    def __init__(self) -> None:
        self.plain = 1

    def __repr__(self) -> str:
        raise AssertionError("repr was called")

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"__getattr__({name}) was called")

    def __len__(self) -> int:
        raise AssertionError("len was called")

    def __eq__(self, other: object) -> bool:
        raise AssertionError("eq was called")

    __hash__ = object.__hash__

    @property
    def attribute(self) -> int:
        raise AssertionError("the property was called")


class Slots:
    __slots__ = ("filled", "unset")

    def __init__(self) -> None:
        self.filled = 1


class HostileList(list):  # type: ignore[type-arg]
    def __len__(self) -> int:
        raise AssertionError("len was called")

    def __iter__(self) -> Any:
        raise AssertionError("iter was called")


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(16, 16)])
        self.register_buffer("table", torch.zeros(3))
        self.settings = Settings()
        self.seen: list[Any] = []
        self.calls = 0

    def forward(self, x: Any) -> Any:
        self.calls += 1
        x = self.layers[0](x)
        self.seen.append(x)
        return x  #: stop


def test_locals_have_no_name_that_has_no_value() -> None:
    def function(x: Any) -> Any:
        listed = [v + 1 for v in (1, 2)]
        dead = x + listed[0]
        later = dead * 2
        torch._dynamo.graph_break()
        total = x + sum(each for each in listed)
        return later + total  #: stop

    def inspect_stop(stop: Stopped) -> None:
        assert {"x", "listed", "later"} <= set(stop.scope("Locals"))
        assert not set(stop.scope("Locals")) & {"v", "dead", "implicit0", ".0", "each"}

    stop_in(function, torch.ones(2), inspect_stop=inspect_stop)


def test_a_comprehensions_iterator_is_no_local() -> None:
    def function(x: Any) -> Any:
        return sum(
            x * factor  #: stop
            for factor in (1, 2)
        )

    def inspect_stop(stop: Stopped) -> None:
        assert "factor" in stop.scope("Locals")
        assert not {".0", "implicit0"} & set(stop.scope("Locals"))

    stop_in(function, torch.ones(2), inspect_stop=inspect_stop, times=2)


def test_an_empty_scope_says_so() -> None:
    def function() -> Any:
        return torch.ones(2)  #: stop

    def inspect_stop(stop: Stopped) -> None:
        scopes = {scope.name: stop.rows(scope.variables_reference) for scope in stop.scopes()}
        said = {name: [row.name for row in scopes[name]] for name in ("Locals", "Value Stack", "Shapes")}
        no_symbols = "(no symbols: every size is a constant so far)"
        assert said == {"Locals": ["(no locals yet)"], "Value Stack": ["(empty)"], "Shapes": [no_symbols]}
        hint = scopes["Locals"][0].presentation_hint
        assert hint is not None and hint.kind == "virtual"

    stop_in(function, inspect_stop=inspect_stop)


def test_scopes_are_named_and_ordered_as_designed() -> None:
    def outer(x: Any) -> Any:
        factor = x + 1

        def inner(y: Any) -> Any:
            z = y * 2
            return z + factor  #: stop

        return inner(x)

    def inspect_stop(stop: Stopped) -> None:
        names = [scope.name for scope in stop.scopes()]
        assert names == [
            "Locals",
            "Closure",
            "Globals",
            "Value Stack",
            "Guards",
            "Shapes",
            "Graph",
            "Compile",
            "Changes",
        ]
        assert [scope.name for scope in stop.scopes(frame=1)][:2] == ["Locals", "Globals"]
        assert not stop.scopes()[0].expensive
        assert [frame.name for frame in stop.frames[:2]] == ["inner [0/0]", "outer [0/0]"]
        assert stop.scope("Closure")["factor"].value == "f32[3]"
        assert list(stop.scope("Locals")) == ["y", "z"]

    stop_in(outer, torch.ones(3), inspect_stop=inspect_stop)


def test_tensors_are_written_as_fx_writes_them() -> None:
    def function(x: Any, whole: Any) -> Any:
        y = x.relu()
        size = x.shape[0] * 2
        line = torch.ones(3)
        return y + whole.sum(), size, line  #: stop

    def inspect_stop(stop: Stopped) -> None:
        rows = stop.scope("Locals")
        symbol = rows["y"].value.removeprefix("f32[").split(",")[0]
        assert rows["y"].value == f"f32[{symbol}, 16]"
        assert rows["whole"].value.startswith("i64[")
        assert rows["size"].value == f"2*{symbol} = 16"
        inside = stop.below(rows["y"])
        assert inside["shape"].value == f"torch.Size([{symbol}, 16])"
        assert stop.below(inside["shape"])["0"].value == f"{symbol} = 8"
        assert inside["stride"].value == "(16, 1)"
        assert stop.below(rows["line"])["stride"].value == "(1,)"
        assert (inside["dtype"].value, inside["device"].value) == ("torch.float32", "cpu")
        assert (inside["layout"].value, inside["requires_grad"].value) == ("torch.strided", "False")
        assert inside["node"].value == f"%y : f32[{symbol}, 16] = call_method[target=relu](args = (%l_x_,))"
        assert inside["kind"].value == "TensorVariable"
        assert stop.below(rows["x"])["source"].value == "L['x']"

    x = torch.ones(8, 16)
    torch._dynamo.mark_dynamic(x, 0)
    stop_in(function, x, torch.ones(4, dtype=torch.int64), inspect_stop=inspect_stop)


def test_modules_show_parameters_and_pending_changes() -> None:
    def inspect_stop(stop: Stopped) -> None:
        this = stop.scope("Locals")["self"]
        inside = stop.below(this)
        assert inside["calls"].value == "1"
        assert inside["seen"].value == "[f32[2, 16]]"
        assert inside["table"].value == "f32[3]"
        assert inside["settings"].value == "Settings object"
        layers = stop.below(inside["layers"])
        weight = stop.below(layers["0"])["weight"]
        assert (weight.value, weight.evaluate_name) == ("f32[16, 16]", "self.layers[0].weight")
        assert weight.type == "torch.nn.parameter.Parameter"
        assert stop.evaluate("self.layers[0].weight", "watch").result == "f32[16, 16]"

    layer = Layer()
    stop_in(layer, torch.ones(2, 16), inspect_stop=inspect_stop)
    assert layer.calls == 1


def containers(x: Any, pair: Any, table: Any) -> Any:
    items = [x, pair, {"a": x}]
    numbers = {1}
    part = slice(0, 2)
    generator = (x * i for i in range(3))
    first = next(generator)
    add = functools.partial(torch.add, x)
    made = Settings()
    made.scale = x
    error = ValueError("expected")
    color = Color.RED
    unread = None
    return first + table["k"] + add(made.scale), items, numbers, part, error, color, unread  #: stop


def test_every_kind_of_value() -> None:
    def inspect_stop(stop: Stopped) -> None:
        rows = stop.scope("Locals")
        values = {name: row.value for name, row in rows.items()}
        assert values["items"] == "[f32[3], Pair(first=1, second=2), {'a': f32[3]}]"
        assert values["pair"] == "Pair(first=1, second=2)"
        assert values["table"] == "{'k': 5, 3: 4}"
        assert values["numbers"] == "{1}"
        assert values["part"] == "slice(0, 2, None)"
        assert values["generator"].startswith("generator containers.<locals>.<genexpr> at line")
        assert values["add"].endswith("add, f32[3])")
        assert values["error"] == "ValueError('expected')"
        assert values["color"] == "Color.RED"
        assert values["unread"] == "None"
        assert stop.below(rows["made"])["scale"].value == "f32[3]"
        assert stop.below(rows["table"])["'k'"].evaluate_name == "table['k']"
        assert stop.below(rows["items"])["[2]"].evaluate_name == "items[2]"
        assert stop.below(rows["pair"])["second"].evaluate_name == "pair.second"
        for row in rows.values():
            if row.variables_reference:
                stop.below(row)

    stop_in(containers, torch.ones(3), Pair(1, 2), {"k": 5, 3: 4}, inspect_stop=inspect_stop)


def test_what_dynamo_has_not_looked_at_is_shown_and_marked() -> None:
    def function(x: Any, later: Any, unused: Any) -> Any:
        y = x + 1  #: stop
        return y + later

    def inspect_stop(stop: Stopped) -> None:
        rows = stop.scope("Locals")
        assert rows["later"].value == "f32[3]"
        assert "not realized by Dynamo yet" in (rows["later"].type or "")
        assert rows["unused"].value == "{'k': 1}"
        assert "Dynamo" in (rows["unused"].type or "")  # since 2.14 such arguments are not tracked at all
        hint = rows["later"].presentation_hint
        assert hint is not None and hint.attributes == ["unrealised", "readOnly"]

    stop_in(function, torch.ones(3), torch.ones(3), {"k": 1}, inspect_stop=inspect_stop)


def test_user_code_is_never_run() -> None:
    def function(x: Any, hostile: Any, slots: Any, items: Any) -> Any:
        return x + 1  #: stop

    def inspect_stop(stop: Stopped) -> None:
        rows = stop.scope("Locals")
        assert rows["hostile"].value == "Hostile object"
        assert [name for name in stop.below(rows["hostile"]) if name != "history"] == ["plain"]
        assert stop.below(rows["slots"])["filled"].value == "1"
        assert rows["items"].value == "HostileList[1, 2]"
        assert stop.below(rows["items"])["[1]"].value == "2"
        for name in rows:
            stop.evaluate(name)

    stop_in(function, torch.ones(3), Hostile(), Slots(), HostileList([1, 2]), inspect_stop=inspect_stop)


def test_children_come_in_pages() -> None:
    def function(x: Any, many: Any) -> Any:
        own = [x] * 300
        return x + len(own) + len(many)  #: stop

    def inspect_stop(stop: Stopped) -> None:
        rows = stop.scope("Locals")
        many = rows["many"]
        assert many.indexed_variables == 10_000
        page = stop.below(many, filter="indexed", start=9_990, count=5)
        assert [row.value for row in page.values()] == ["9990", "9991", "9992", "9993", "9994"]
        hexadecimal = stop.below(many, filter="indexed", start=255, count=1, hex=True)
        assert hexadecimal["[255]"].value == "0xff"
        own = rows["own"]
        assert (own.named_variables, own.indexed_variables) == (3, 300)
        assert list(stop.below(own, filter="named")) == ["reconstruct", "VariableTracker", "history"]
        assert list(stop.below(own, filter="indexed", start=298, count=10)) == ["[298]", "[299]"]
        assert len(stop.below(own)) == 303

    stop_in(function, torch.ones(3), list(range(10_000)), inspect_stop=inspect_stop)


def test_long_strings_are_cut() -> None:
    def function(x: Any, text: str) -> Any:
        return x + len(text)  #: stop

    def inspect_stop(stop: Stopped) -> None:
        value = stop.scope("Locals")["text"].value
        assert len(value) < 300
        assert value.endswith("(10,000 characters)")

    stop_in(function, torch.ones(3), "x" * 10_000, inspect_stop=inspect_stop)


def test_guards_shapes_graph_and_compile() -> None:
    def function(x: Any, settings: Any) -> Any:
        y = x * settings.scale * TABLE["scale"]
        return y.sum() if x.size(0) > 4 else y  #: stop

    def inspect_stop(stop: Stopped) -> None:
        guards = stop.scope("Guards")
        assert "TENSOR_MATCH" in guards["x"].value
        assert guards["settings.scale"].value.startswith("3  CONSTANT_MATCH at test_inspection.py:")
        scale = stop.below(guards["settings.scale"])
        assert "test_inspection.py:" in scale["user line"].value
        on_state = stop.below(guards["state of torch"])
        assert all(stop.below(row)["source"].value == "(global state)" for row in on_state.values())
        assert "GRAD_MODE" in on_state and list(guards)[-1] == "state of torch"
        (symbol, shape), *_ = stop.scope("Shapes").items()
        assert shape.value.startswith("8 in [")
        inside = stop.below(shape)
        assert list(inside) == ["hint", "range", "source", "replacement", "constraints", "guards", "history"]
        assert inside["source"].value == "L['x'].size()[0]"
        assert inside["constraints"].value.startswith("must not become one value, else the compile fails (Relaxed")
        graph = stop.scope("Graph")
        assert graph["l_x_"].value == f"f32[{symbol}, 2] x (input)"
        multiply = next(row for name, row in graph.items() if name.startswith("mul"))
        assert multiply.value.startswith(f"%mul : f32[{symbol}, 2] = call_function[target=operator.mul](args = (%l_x_,")
        node = stop.below(multiply)
        assert "test_inspection.py:" in node["user line"].value
        assert node["example_value"].value == f"f32[{symbol}, 2]"
        compiling = stop.scope("Compile")
        facts = {name: row.value for name, row in compiling.items()}
        assert facts["compile id"] == "0/0"
        assert facts["attempt"] == "0"
        assert facts["backend"] == "eager"
        assert facts["reason"] == "first compile"
        assert {"inline depth", "frame depth", "instruction", "config"} <= set(facts)

    x = torch.ones(8, 2)
    torch._dynamo.mark_dynamic(x, 0)
    stop_in(function, x, Settings(), inspect_stop=inspect_stop)


def test_recompile_says_why() -> None:
    seen = []

    def function(x: Any) -> Any:
        return x + 1  #: stop

    def inspect_stop(stop: Stopped) -> None:
        seen.append((stop.frames[0].name, stop.scope("Compile")["reason"].value))

    stop_in(
        function,
        torch.ones(3),
        inspect_stop=inspect_stop,
        times=2,
        then=lambda compiled: compiled(torch.ones(3).double()),
    )
    assert [name for name, _ in seen] == ["function [0/0]", "function [0/1]"]
    assert "dtype" in seen[1][1]


def test_resume_functions_are_named_after_their_original() -> None:
    names = []

    def function(x: Any) -> Any:
        y = x + 1
        torch._dynamo.graph_break()
        return y + 2  #: stop

    def inspect_stop(stop: Stopped) -> None:
        names.append(stop.frames[0].name)
        rows = stop.scope("Locals")
        assert not [name for name in rows if name.startswith("__")]
        assert rows["y"].value == "f32[3]"
        assert "graph break" in stop.scope("Compile")["reason"].value

    stop_in(function, torch.ones(3), inspect_stop=inspect_stop)
    assert [name.split()[0] for name in names] == ["function"]


def test_globals_are_those_the_code_names_with_their_pending_values() -> None:
    def function(x: Any) -> Any:
        global COUNT
        COUNT = 5
        return x * TABLE["scale"] + COUNT  #: stop

    def inspect_stop(stop: Stopped) -> None:
        rows = stop.scope("Globals")
        assert rows["COUNT"].value == "5"
        assert rows["TABLE"].value == "{'scale': 2.0}"
        assert "Pair" not in rows

    stop_in(function, torch.ones(3), inspect_stop=inspect_stop)


def test_ids_die_with_their_stop() -> None:
    kept: list[int] = []

    def function(x: Any) -> Any:
        for _ in range(2):
            x = x + 1  #: stop
        return x

    def inspect_stop(stop: Stopped) -> None:
        if kept:
            with pytest.raises(Refused, match="no longer exists"):
                stop.rows(kept[0])
        kept.append(stop.scopes()[0].variables_reference)

    stop_in(function, torch.ones(3), inspect_stop=inspect_stop, times=2)


def test_guards_on_a_variable_are_below_it() -> None:
    def function(x: Any, mode: Any) -> Any:
        y = x * 2 if x.shape[0] > 2 and mode == "double" else x
        return y + 1  #: stop

    def inspect_stop(stop: Stopped) -> None:
        rows = stop.scope("Locals")
        guards = stop.below(rows["x"])["guards"]
        assert guards.value.startswith("TENSOR_MATCH") and guards.value.endswith("s77 > 2")
        assert {row.type for row in stop.below(guards).values()} >= {"TENSOR_MATCH", "SHAPE_ENV"}
        assert "guards" not in stop.below(rows["y"])
        of_mode = stop.below(stop.below(rows["mode"])["VariableTracker"])
        assert of_mode["source"].value == "L['mode']"
        assert of_mode["guards"].value.endswith("_MATCH")
        assert stop.below(stop.scope("Shapes")["s77"])["guards"].value == "s77 > 2"
        assert stop.below(stop.scope("Shapes")["s27"])["guards"].value == "none yet"

    stop_in(function, torch.ones(5, 3), "double", inspect_stop=inspect_stop, dynamic=True)


class Proxied(type):
    """A metaclass whose methods must not be called by a look at a value."""

    def __eq__(cls, other: object) -> bool:
        raise AssertionError("a look compares classes")

    __hash__ = None  # type: ignore[assignment]


class Proxy(metaclass=Proxied):
    scale = 3

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        raise AssertionError("a look reads attributes")


PROXY = Proxy()
scale = 2.0


def of_the_module(x: Any) -> Any:
    return x * scale


def test_guards_are_named_as_in_the_program_with_their_values() -> None:
    def function(x: Any, scale: Any, layers: Any) -> Any:
        y = of_the_module(x) * scale
        for layer in layers:
            y = layer(y)
        return y  #: stop

    def inspect_stop(stop: Stopped) -> None:
        guards = {name: row.value for name, row in stop.scope("Guards").items()}
        assert guards["x"].startswith("f32[5, 3]  ") and guards["scale"].startswith("3  ")
        assert guards["G['scale']"].startswith("2.0  "), "a local has this name"
        assert guards["layers[0].weight"].startswith("f32[3, 3]  TENSOR_MATCH at ")
        for name in ("layers[0].weight", "x", "L['x']"):
            assert "line" in stop.evaluate(f"history Guards/{name}").result
        assert stop.evaluate("guards L['layers'][0]").result == "guards so far with `L['layers'][0]`"

    layers = torch.nn.ModuleList([torch.nn.Linear(3, 3)])
    stop_in(function, torch.ones(5, 3), 3, layers, inspect_stop=inspect_stop)


def test_nothing_of_a_value_runs_to_name_it() -> None:
    frame = types.SimpleNamespace(f_locals={"L": {"proxy": PROXY}}, f_globals={})
    assert value_text(PROXY) == "Proxy" and value_text(Proxy) == "Proxy"
    assert guarded_object(GuardedValue("value", "L['proxy'].scale"), frame) == 3


def test_a_guard_on_a_size_leads_to_its_line() -> None:
    """torch shortens the path of a file that is not its own, and puts the text of the line before it."""

    def function(x: Any) -> Any:
        y = x * 2 if x.shape[0] > 2 else x
        return y + 1  #: stop

    def inspect_stop(stop: Stopped) -> None:
        row = stop.scope("Guards")["s77 > 2"]
        place = stop.location(row.declaration_location_reference)
        assert (place.source.path, place.line) == (__file__, function.__code__.co_firstlineno + 1)
        assert stop.below(row)["user line"].value == f"{__file__}:{place.line}"

    stop_in(function, torch.ones(5, 3), inspect_stop=inspect_stop, dynamic=True)


class Options(dict[str, int]):
    pass


class Steps(list[int]):
    pass


class Flags(set[str]):
    pass


class Extent(tuple[int, ...]):
    pass


@pytest.mark.parametrize("made", ["by the program", "while Dynamo traces"])
def test_what_is_in_a_subclass_of_a_container(made: str) -> None:
    def function(x: Any, given: Any) -> Any:
        settings, steps, flags, extent = given or (Options(a=1), Steps([2, 3]), Flags({"on"}), Extent((4, 5)))
        read = settings["a"], steps[0], "on" in flags, extent[1]
        return x + len(read)  #: stop

    def inspect_stop(stop: Stopped) -> None:
        rows = stop.scope("Locals")
        found = {name: rows[name].value for name in ("settings", "steps", "flags", "extent")}
        assert found == {
            "settings": "Options{'a': 1}",
            "steps": "Steps[2, 3]",
            "flags": "Flags{'on'}",
            "extent": "Extent(4, 5)",
        }
        assert stop.below(rows["settings"])["'a'"].value == "1"

    containers = (Options(a=1), Steps([2, 3]), Flags({"on"}), Extent((4, 5)))
    stop_in(function, torch.ones(3), containers if made == "by the program" else None, inspect_stop=inspect_stop)


@pytest.mark.cuda
def test_devices_are_named_when_they_are_not_cpu() -> None:
    def function(x: Any) -> Any:
        y = x + 1
        return y * 2  #: stop

    def inspect_stop(stop: Stopped) -> None:
        assert stop.scope("Locals")["y"].value == "f32[8, 16] cuda:0"
        assert stop.evaluate("(y @ y.t()).relu()").result == "f32[8, 8] cuda:0"

    stop_in(function, torch.ones(8, 16, device="cuda"), inspect_stop=inspect_stop)
