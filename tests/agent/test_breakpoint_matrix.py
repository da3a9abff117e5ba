"""Every kind of breakpoint at every place where Dynamo can meet one; run on every supported torch.

A kind is a function with `@kind`: it sets its breakpoint, and returns what is checked once the program has run.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from dynascope.wire.dap import (
    BreakpointsBody,
    DataBreakpoint,
    DisassembleBody,
    FunctionBreakpoint,
    InstructionBreakpoint,
    SourceBreakpoint,
)
from dynascope.wire.to_agent import Disassemble, SetInstructionBreakpoints

from tests.agent.matrix.places import NAMES, Place, places
from tests.agent.scripted import ScriptedSession

Check = Callable[[], None]
Kind = Callable[[ScriptedSession, Place], Check]
KINDS: dict[str, Kind] = {}


def kind(make: Kind) -> Kind:
    KINDS[make.__name__] = make
    return make


def set_at_line(session: ScriptedSession, place: Place, **more: str) -> None:
    states = session.break_at(place.path, SourceBreakpoint(id=1, line=place.line, **more))
    assert states[0].verified, states
    assert states[0].line == place.line


def stops_at(session: ScriptedSession, place: Place, *values: int) -> Check:
    def check() -> None:
        assert session.places == [f"{place.frame}:{place.line}"] * len(values)
        assert [stop.locals["i"] for stop in session.stops] == list(map(str, values))
        assert {(stop.message.reason, *stop.message.hit_breakpoint_ids) for stop in session.stops} == {
            ("breakpoint", 1)
        }

    return check


@kind
def line(session: ScriptedSession, place: Place) -> Check:
    set_at_line(session, place)
    return stops_at(session, place, 0, 1, 2)


@kind
def condition(session: ScriptedSession, place: Place) -> Check:
    set_at_line(session, place, condition="i == 1")
    return stops_at(session, place, 1)


@kind
def condition_on_shapes(session: ScriptedSession, place: Place) -> Check:
    set_at_line(
        session, place, condition=f"i > 0 and {place.tensor}.shape[0] == 3 and {place.tensor}.dtype is torch.float32"
    )
    return stops_at(session, place, 1, 2)


@kind
def hit_count(session: ScriptedSession, place: Place) -> Check:
    set_at_line(session, place, hit_condition="% 2")
    return stops_at(session, place, 1)


@kind
def logpoint(session: ScriptedSession, place: Place) -> Check:
    set_at_line(session, place, log_message=f"i is {{i}}, {{{place.tensor}.ndim}}")

    def check() -> None:
        assert not session.stops
        assert [output.output for output in session.outputs if output.path] == [f"i is {i}, 1\n" for i in range(3)]

    return check


@kind
def function(session: ScriptedSession, place: Place) -> Check:
    session.break_in(FunctionBreakpoint(id=2, name=place.function))

    def check() -> None:
        traced = [stop for stop in session.stops if "NodeCall" not in stop.frames[0].name]
        assert [stop.where for stop in traced] == [f"{place.entry_frame}:{place.entry_line}"]
        assert traced[0].message.reason == "function breakpoint"

    return check


@kind
def node(session: ScriptedSession, place: Place) -> Check:
    """`+` is an operator that other lines of a program use, too."""
    states = session.break_in(FunctionBreakpoint(id=3, name="operator.add"))
    assert states[0].verified, states

    def check() -> None:
        here = [stop for stop in session.stops if stop.frames[0].line == place.line]
        assert [stop.where for stop in here] == [f"{place.frame}:{place.line}"] * 3
        assert [stop.locals["i"] for stop in here] == ["0", "1", "2"]
        assert all("[target=operator.add]" in str(stop.message.text) for stop in session.stops)

    return check


@kind
def node_condition(session: ScriptedSession, place: Place) -> Check:
    session.break_in(FunctionBreakpoint(id=3, name="operator.add", condition="node.args[1] == 2"))

    def check() -> None:
        assert [stop.locals["i"] for stop in session.stops if stop.where == f"{place.frame}:{place.line}"] == ["2"]

    return check


@kind
def data_changed(session: ScriptedSession, place: Place) -> Check:
    session.watch(DataBreakpoint(id=4, data_id=f"local::{place.path}::{place.function}::i", access_type="write"))

    def check() -> None:
        assert session.places == [f"{place.frame}:{place.line}"] * 2
        before = f"({place.path.name}:{place.line - 1})"
        assert [stop.message.text for stop in session.stops] == [f"i: 0 → 1 {before}", f"i: 1 → 2 {before}"]
        assert {(stop.message.reason, *stop.message.hit_breakpoint_ids) for stop in session.stops} == {
            ("data breakpoint", 4)
        }

    return check


@kind
def data_used(session: ScriptedSession, place: Place) -> Check:
    wanted = f"local::{place.path}::{place.function}::{place.tensor}"
    session.watch(DataBreakpoint(id=4, data_id=wanted, access_type="read", condition="i > 0"))

    def check() -> None:
        here = [stop for stop in session.stops if stop.frames[0].line == place.line]
        used = [stop for stop in here if f"{place.tensor} is an input of" in str(stop.message.text)]
        assert [stop.where for stop in used] == [f"{place.frame}:{place.line}"] * 2
        assert [stop.locals["i"] for stop in used] == ["1", "2"]

    return check


@kind
def instruction(session: ScriptedSession, place: Place) -> Check:
    """Set at the first stop on the line, on its addition."""
    set_at_line(session, place)

    def at_first_stop(session: ScriptedSession) -> None:
        session.at_stop = lambda session: None
        pointer = session.stops[0].frames[0].instruction_pointer_reference
        listing = Disassemble(id=20, memory_reference=str(pointer), instruction_count=40)
        rows = session.ask(listing, DisassembleBody).instructions
        add = next(row for row in rows if row.line == place.line and row.instruction.startswith("BINARY_OP"))
        wanted = [InstructionBreakpoint(id=5, instruction_reference=add.address)]
        session.ask(SetInstructionBreakpoints(id=21, breakpoints=wanted), BreakpointsBody)
        session.break_at(place.path)

    session.at_stop = at_first_stop

    def check() -> None:
        assert session.places == [f"{place.frame}:{place.line}"] * 4
        assert [stop.locals["i"] for stop in session.stops] == ["0", "0", "1", "2"]
        assert {(stop.message.reason, *stop.message.hit_breakpoint_ids) for stop in session.stops[1:]} == {
            ("instruction breakpoint", 5)
        }

    return check


@pytest.mark.parametrize("place_name", NAMES)
@pytest.mark.parametrize("kind_name", sorted(KINDS))
def test_breakpoint(kind_name: str, place_name: str, tmp_path: Path) -> None:
    place = places(tmp_path)[place_name]
    session = ScriptedSession()
    check = KINDS[kind_name](session, place)
    with session.attached():
        place.run()
    check()
