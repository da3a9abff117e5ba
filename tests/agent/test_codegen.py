"""Where a graph has ended: the `codegen` filter, the scope `Codegen`, and `reconstruct` at every other stop."""

from __future__ import annotations

import collections
import contextlib
import dis
import enum
import functools
import gc
import itertools
import re
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from dynascope.agent.inspection.scopes.codegen import NAME
from dynascope.agent.internals.frames.frame_state import PRUNED
from dynascope.wire.dap import ScopesBody, VariablesBody
from dynascope.wire.to_agent import Scopes, Variables
from torch._dynamo import bytecode_transformation, convert_frame
from torch._dynamo.codegen import PyCodegen

from tests.support.agent.scripted_session import ScriptedSession, Stop
from tests.support.marks import one_in

pytestmark = pytest.mark.second_leg

X = torch.ones(3)

CALLEE = ["[0] callee", "[1] NULL"] if sys.version_info >= (3, 13) else ["[0] NULL", "[1] callee"]
"""The lowest slots of the stack at a call."""


class Box:
    pass


class Color(enum.Enum):
    RED = 1


Pair = collections.namedtuple("Pair", "first second")


def a_list(x):
    y = x * 2
    parts = [y, x + 1, 3]
    torch._dynamo.graph_break()  # a_list breaks
    return parts[0] + parts[1] + parts[2]  # a_list returns


def changes(x, items, box):
    y = x.sin()
    box.a = y
    items.append(y + 1)
    made = Box()
    made.b = x * 3
    torch._dynamo.graph_break()
    return made.b + box.a + items[-1]


def jumps(x):
    y = x * 2
    if y.sum() > 0:
        return y + 1
    return y - 1


def innermost(x):
    z = x * 2
    torch._dynamo.graph_break()  # innermost breaks
    return z + 1


def outermost(x):
    k = 3
    return innermost(x + 1) * k


def under_no_grad(x):
    with torch.no_grad():
        y = x + 1
        torch._dynamo.graph_break()
        z = y * 2
    return z + y


def rest_uncompiled(x):
    y = (x + 1).sin() * 2  # the last place where the graph can end
    try:
        y = y * 2
        torch._dynamo.graph_break()
    finally:
        y = y + 1
    return y


def in_a_loop(x):
    y = x + 1
    for _ in range(2):
        torch._dynamo.graph_break()
    return y


def closure(x):
    calls = 0

    def scaled(a):
        nonlocal calls
        calls += 1
        return a * calls

    y = scaled(x)
    torch._dynamo.graph_break()
    return scaled(y)


def numbers(x):
    yield x + 1
    yield x + 2


def keeps_a_generator(x):
    left = numbers(x)
    first = next(left)
    torch._dynamo.graph_break()
    return first + sum(left)


def shares(x):
    pair = [x * 2]
    both = (pair, [pair, 1], pair)
    torch._dynamo.graph_break()
    return both[0][0] + both[1][0][0]


def one_tensor(x):
    x.add_(1)
    return x  # one_tensor returns


def in_a_handler(x):
    try:
        raise ValueError("the program's own")
    except ValueError:
        return torch.compile(one_tensor, backend="eager")(x)


def line_of(mark: str) -> int:
    """The line that ends in this comment."""
    return next(i for i, text in enumerate(Path(__file__).read_text().splitlines(), 1) if text.endswith(f"# {mark}"))


def caught(function: Any, *arguments: Any, condition: str | None = None, options: dict[str, Any] | None = None) -> Any:
    session = ScriptedSession()
    assert session.catch("codegen", condition).verified
    rows: list[Rows] = []
    session.at_stop = lambda session: rows.append(Rows(session))
    with session.attached():
        torch.compile(function, backend="eager", **(options or {}))(*(arguments or (X,)))
    assert [each.message.reason for each in session.stops] == ["exception"] * len(session.stops)
    return session.stops, rows


class Rows:
    """Every row of the scope at one stop, three levels deep: `rows["restored"]["parts"].value`."""

    def __init__(self, session: ScriptedSession, name: str = NAME, depth: int = 3) -> None:
        stop = session.stops[-1]
        self._session, self._ident, self._depth = session, stop.message.thread_ident, depth
        request = Scopes(id=1, thread_ident=self._ident, frame_id=stop.frames[0].id)
        scopes: ScopesBody = session.ask(request, ScopesBody)
        self.scopes = [scope.name for scope in scopes.scopes]
        reference = next(scope.variables_reference for scope in scopes.scopes if scope.name == name)
        self.texts: dict[tuple[str, ...], str] = {}
        self.types: dict[tuple[str, ...], str] = {}
        self._read(reference, ())

    def _read(self, reference: int, path: tuple[str, ...]) -> None:
        request = Variables(id=2, thread_ident=self._ident, variables_reference=reference)
        body: VariablesBody = self._session.ask(request, VariablesBody)
        for row in body.variables:
            here = (*path, row.name)
            self.texts[here], self.types[here] = row.value, row.type or ""
            if row.variables_reference and len(here) < self._depth:
                self._read(row.variables_reference, here)

    def below(self, *path: str) -> dict[str, str]:
        return {key[-1]: value for key, value in self.texts.items() if key[:-1] == path}


def told(stop: Stop) -> str:
    assert stop.message.exception is not None
    return re.sub(r"(__resume_at)_\d+_\d+", r"\1", stop.message.exception.description)


def test_every_graph_that_ends_stops_once_at_its_last_line() -> None:
    stops, _ = caught(a_list)
    breaks, returns = stops
    assert [stop.frames[0].line for stop in stops] == [
        line_of("a_list breaks"),
        line_of("a_list returns"),
    ]
    assert breaks.message.description == "Paused on code generation"
    assert breaks.message.exception.exception_id == "codegen"
    assert told(breaks).splitlines()[0] == (
        "The graph ends at a graph break (GB0025): 2 outputs, 3 values to restore, then __resume_at"
    )
    assert "Outputs of the graph: y; parts[1]" in told(breaks)
    assert "parts = list of 3 made anew" in told(breaks)
    assert "__resume_at(___stack0, parts) continues in a_list" in told(breaks)
    assert told(returns).startswith("The graph ends at the return: 1 output, 1 value to restore")
    # what nothing reads any more is still there to look at, and for conditions
    assert breaks.locals == {"x": "f32[3]", "y": "f32[3]", "parts": "[f32[3], f32[3], 3]"}


@pytest.mark.second_leg_only
def test_the_scope_tells_what_is_restored_and_how() -> None:
    (_, _), (rows, _) = caught(a_list)
    assert rows.scopes[-4:] == ["Graph", NAME, "Compile", "Changes"]
    assert rows.texts["graph",].startswith("__compiled_fn")
    assert list(rows.below("outputs")) == ["[0] y", "[1] parts[1]"]
    restored = rows.below("restored")
    assert list(restored) == [*CALLEE, "parts"]
    assert restored[next(name for name in CALLEE if "callee" in name)] == "G['torch']._dynamo.graph_break"
    assert restored["parts"] == "list of 3 made anew"
    assert list(rows.below("dropped")) == ["x", "y"]
    (resume,) = rows.below("resume functions").values()
    assert resume.endswith("(___stack0, parts)")


def test_instructions_are_in_groups_named_for_what_they_make() -> None:
    (_, _), (rows, _) = caught(a_list)
    groups = list(rows.below("instructions"))
    wanted = ["calls the graph", "keeps the outputs", "cells", *CALLEE, "parts"]
    assert [group for group in groups if group in wanted] == wanted
    assert groups[-2:] == ["the instruction that breaks", "continues"]
    parts = list(rows.below("instructions", "parts").values())
    assert [text.split()[0] for text in parts][-1] == "BUILD_LIST"
    assert [text for text in parts if "graph_out_0" in text] and all("tmp" not in text for text in parts)
    own = rows.below("instructions", "the instruction that breaks").values()
    assert [text.split()[0] for text in own] == ["CALL"]


def test_changes_that_are_replayed_and_new_objects() -> None:
    (stop, _), (rows, _) = caught(changes, X, [X], Box())
    assert "Changes that are replayed: box; items; made" in told(stop)
    assert rows.below("replayed") == {
        "[0] box": "sets .a",
        "[1] items": "takes [f32[3], f32[3]]",
        "[2] made": "sets .b",
    }
    assert re.fullmatch(r"tmp_\d+, a new Box", rows.texts["restored", "made"])
    assert list(rows.below("unchanged")) == ["items", "box"]
    (temporary,) = [name for name in rows.below("temporaries") if name == "made"]
    assert temporary in rows.below("temporaries")
    groups = list(rows.below("instructions"))
    wanted = ["new object made", "change of box", "change of items", "change of made", "changes take effect"]
    assert [group for group in groups if group in wanted] == wanted


def test_what_is_used_twice_is_kept_in_a_temporary_and_says_how_often() -> None:
    (_, _), (rows, _) = caught(shares)
    (kept,) = [text for name, text in rows.below("temporaries").items() if name == "pair"]
    assert re.fullmatch(r"tmp_\d+, needed 2 times", kept)
    assert rows.below("uses")["pair"] == "2"


def test_cells_are_passed_on() -> None:
    (stop, _), (rows, _) = caught(closure)
    assert rows.below("cells") == {"calls": "1"}
    assert rows.below("replayed") == {"[0] calls": "takes 1"}
    assert "scaled = function closure.<locals>.scaled made anew" in told(stop)
    assert {"calls"} == {value for key, value in rows.texts.items() if key[0] == "resume functions" and "cells" in key}


def accumulates(x):
    x.grad = x * 2
    return 1


def test_an_output_that_only_an_attribute_holds_has_its_name() -> None:
    stops, _ = caught(accumulates, torch.ones(3))
    assert "Outputs of the graph: x.grad" in told(stops[0]) or "Outputs of the graph: L['x'].grad" in told(stops[0])


def test_an_export_puts_its_inputs_out_too() -> None:
    session = ScriptedSession()
    session.catch("codegen")
    ways: list[str] = []
    at = ("restored", "[0] return value", "[0]", "reconstruct")
    session.at_stop = lambda session: ways.append(Rows(session, depth=4).texts[at])
    with session.attached():
        torch._dynamo.export(lambda x: [x, 1])(X)
    assert ways == ["graph_out_0[0]"]


def many_outputs(x):
    return [x + i for i in range(1_000)]


@pytest.mark.second_leg_only
def test_of_many_outputs_the_first_are_told() -> None:
    session = ScriptedSession()
    session.catch("codegen")
    with session.attached():
        torch.compile(many_outputs, backend="eager")(X)
    assert "return value[11]; … 988 more" in told(session.stops[0])


def test_a_jump_on_data_goes_on_in_one_of_two_functions() -> None:
    (stop, _), (rows, _) = caught(jumps)
    assert told(stop).startswith("The graph ends at a jump that depends on data: 2 outputs, 2 values to restore, then ")
    assert "[0] condition = graph_out_0[0]; y = graph_out_0[1]" in told(stop)
    assert len(rows.below("resume functions")) == 2


def test_a_graph_of_tensors_alone_is_unpacked() -> None:
    (stop,), (rows,) = caught(one_tensor)
    assert stop.frames[0].line == line_of("one_tensor returns")
    assert "[0] return value = output 0 of the graph" in told(stop)
    assert rows.below("resume functions") == {} and rows.texts["uses",] == "none"


def test_graph_breaks_in_inlined_calls_show_every_frame() -> None:
    with torch._dynamo.config.patch(nested_graph_breaks=True):
        (stop, *_), (rows, *_) = caught(outermost)
    assert [re.sub(r" \[.*", "", frame.name) for frame in stop.frames] == ["innermost", "outermost"]
    assert stop.frames[0].line == line_of("innermost breaks")
    assert rows.below("restored")["z in innermost"] == "graph_out_0[0]"
    assert rows.below("restored")["k in outermost"] == "the constant 3"
    assert len(rows.below("resume functions")) == 2


def test_under_a_context_manager() -> None:
    _, (rows, _) = caught(under_no_grad)
    assert "[0] with exit" in rows.below("restored")


def test_the_rest_of_a_function_that_runs_uncompiled() -> None:
    stops, _ = caught(rest_uncompiled)
    assert told(stops[0]).splitlines()[0].endswith("then the rest runs uncompiled")


def test_a_function_that_is_given_up_ends_no_graph() -> None:
    assert caught(in_a_loop) == ([], [])


def test_a_generator_that_is_run_out_for_it_ends_no_graph_of_its_own() -> None:
    stops, _ = caught(keeps_a_generator)
    assert [re.sub(r" \[.*", "", stop.frames[0].name) for stop in stops] == ["keeps_a_generator"] * 2
    assert "Outputs of the graph: left[0]; first" in told(stops[0])
    assert "left = run to its end there" in told(stops[0])


def test_an_exception_that_the_program_handles_is_none_of_its_business() -> None:
    session = ScriptedSession()
    session.catch("codegen")
    with session.attached():
        in_a_handler(X)
    assert len(session.stops) == 1


@pytest.mark.parametrize(
    ("condition", "functions"),
    [
        ("GB0025", ["a_list"]),
        ("GB0059", []),
        ("GB0025, y.ndim == 1 and parts[2] == 3", ["a_list"]),  # y is alive no more
        ("GB0025, test_codegen.py, y.ndim == 2", []),
        ('"at the return"', ["a_list"]),
        ("library code", []),
    ],
)
def test_conditions_are_those_of_every_filter(condition: str, functions: list[str]) -> None:
    stops, _ = caught(a_list, condition=condition)
    assert [re.sub(r" \[.*", "", stop.frames[0].name) for stop in stops] == functions


@pytest.mark.second_leg_only
def test_nothing_of_it_is_kept_when_the_stop_is_over() -> None:
    session = ScriptedSession()
    session.catch("codegen")
    frames: list[Any] = []
    session.at_stop = lambda session: frames.append(Rows(session))
    with session.attached():
        torch.compile(changes, backend="eager")(X, [X], Box())
        translators = [each for each in gc.get_objects() if type(each).__name__ == "InstructionTranslator"]
        assert not [each for each in translators if PRUNED in vars(each)]
        del translators
        gc.collect()
        assert not [each for each in gc.get_objects() if type(each) is PyCodegen]
    assert len(frames) == 2


def listed(code: types.CodeType) -> str:
    """Without constants that are no literals: a function's globals are among them."""
    lines = [f"{each.opname} {each.argval}" for each in dis.get_instructions(code) if type(each.argval) in (str, int)]
    return "\n".join([code.co_name, *lines, *code.co_varnames, *code.co_names])


def generated_code(function: Callable[..., Any], *arguments: Any, watched: bool) -> list[str]:
    """What Dynamo generates, with the numbers in its names counted from where they began."""
    session = ScriptedSession()
    if watched:
        session.catch("codegen")
        session.at_stop = lambda session: Rows(session)  # type: ignore[assignment,return-value]
    torch._dynamo.reset()
    codes: list[str] = []
    hook = convert_frame.register_bytecode_hook(lambda before, after: codes.append(listed(after)))
    first = (next(bytecode_transformation._unique_id_counter) // 1_000_000 + 1) * 1_000_000
    bytecode_transformation._unique_id_counter = itertools.count(first)
    try:
        with session.attached() if watched else contextlib.nullcontext():
            torch.compile(function, backend="eager")(*arguments)
    finally:
        hook.remove()
        torch._dynamo.reset()
    assert bool(session.stops) == watched
    text = re.sub(r"_[0-9a-f]{8}(_[0-9a-f]{4}){3}_[0-9a-f]{12}|\d{12,}_c\d+", "", "\n".join(codes))
    assert f"_{first // 1_000_000}" in text
    return re.sub(r"\d{7,}", lambda found: str(int(found[0]) - first), text).splitlines()


@pytest.mark.parametrize(
    "function", one_in(3, [a_list, changes, jumps, closure, shares, under_no_grad, keeps_a_generator])
)
def test_the_generated_code_is_the_same_to_the_last_name(function: Any) -> None:
    def run(watched: bool) -> list[str]:
        return generated_code(function, *((X, [X], Box()) if function is changes else (X,)), watched=watched)

    run(watched=False)
    plain = run(watched=False)
    assert run(watched=True) == plain


# ---- `reconstruct` where nothing has ended yet


@contextlib.contextmanager
def own_context():
    yield


def many_values(x, items, box, n):
    y = x * 2
    a_tuple = (1, "a", None)
    parts = [y, {"k": y}]
    made = Box()
    made.b = y

    def nested(a):
        return a + y

    size = x.shape[0] * 2
    made_here = own_context()
    holder = [made_here]
    left = (y + i for i in range(3))
    print(a_tuple, parts, made, nested, size, holder, left) if n == 0 else None
    return y  # many_values stops


def test_every_value_says_how_it_would_be_made_again() -> None:
    session = ScriptedSession()
    session.break_at(__file__, line_of("many_values stops"))
    seen: list[Rows] = []
    session.at_stop = lambda session: seen.append(Rows(session, "Locals"))
    with session.attached():
        torch.compile(many_values, backend="eager", dynamic=True)(torch.ones(4), [X], Box(), 3)
    (rows,) = seen
    assert NAME not in rows.scopes
    ways = {key[0]: (rows.types[key], text) for key, text in rows.texts.items() if key[1:] == ("reconstruct",)}
    assert ways["x"] == ("source", "L['x']")
    assert ways["y"] == ("graph output", "a new output of the graph: %y")
    assert ways["a_tuple"] == ("constant", "a constant")
    assert ways["parts"] == ("rebuilt", "list of 2 made anew")
    assert ways["made"] == ("new object", "Box: __new__, then its attributes")
    assert ways["nested"] == ("rebuilt", "function many_values.<locals>.nested made anew")
    assert ways["size"][0] == "graph output"
    assert ways["left"][1].startswith("run to its end there")
    refused = "cannot be made again: an object of @contextmanager cannot leave compiled code"
    assert ways["made_here"] == ("impossible", refused.replace("again: ", "again: gen: "))
    assert ways["holder"] == ("impossible", refused.replace("again: ", "again: [0]: gen: "))


class Slotted:
    __slots__ = ("part",)


def leaf(x):
    return x + 1


MADE = {
    "a dict": lambda x: {"a": x + 1, "b": [x]},
    "a set": lambda x: {1, 2},
    "a range": lambda x: range(3),
    "a slice": lambda x: slice(1, 2),
    "a lambda": lambda x: lambda y: y + x,
    "a partial": lambda x: functools.partial(leaf, x),
    "a function": lambda x: leaf,
    "a class": lambda x: Box,
    "an object": lambda x: Box(),
    "an object with slots": lambda x: Slotted(),
    "an iterator": lambda x: iter([x, x]),
    "a zip": lambda x: zip([x], [1], strict=True),
    "a generator": lambda x: numbers(x),
    "a deque": lambda x: collections.deque([x]),
    "a namedtuple": lambda x: Pair(x, 1),
    "a size": lambda x: x.shape,
    "a dtype": lambda x: x.dtype,
    "an enum": lambda x: Color.RED,
    "an exception": lambda x: ValueError("a", x),
    "a method": lambda x: x.add,
    "a bound method": lambda x: Box().__init__,
    "no_grad": lambda x: torch.no_grad(),
    "an own context": lambda x: own_context(),
    "a profiler": lambda x: torch.profiler.record_function("here"),
    "a numpy array": lambda x: x.numpy(),
    "an item": lambda x: x.shape[0] * 2.5,
    "a view of keys": lambda x: {"a": x}.keys(),
    "super": lambda x: type(x),
    "a string": lambda x: "a" * 3,
    "a class made here": lambda x: type("Here", (), {}),
    "an object of a class made here": lambda x: type("Here", (), {})(),
}


@pytest.mark.parametrize("name", one_in(3, MADE))
def test_what_cannot_be_made_again_is_what_dynamo_cannot_restore(name: str) -> None:
    make = MADE[name]

    def keeps(x):
        y = x * 2
        kept = make(y)
        torch._dynamo.graph_break()
        return y, kept

    code = keeps.__code__
    session = ScriptedSession()
    session.catch("codegen")
    session.break_at(__file__, code.co_firstlineno + 3)
    ways: list[str] = []

    def inspect_stop(session: ScriptedSession) -> None:
        if session.stops[-1].message.reason == "breakpoint" and not ways:
            ways.append(Rows(session, "Locals").types.get(("kept", "reconstruct"), "as it is"))

    session.at_stop = inspect_stop
    with torch.enable_grad(), session.attached():  # torch leaves the mode of a kept `no_grad()` behind
        torch.compile(keeps, backend="eager")(X)
    assert ways, "Dynamo does not trace this at all"
    is_restored = any(
        stop.message.reason == "exception" and stop.frames[0].line == code.co_firstlineno + 3 for stop in session.stops
    )
    assert (ways[0] != "impossible") == is_restored, ways
