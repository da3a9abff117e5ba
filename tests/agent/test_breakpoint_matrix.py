"""Every kind of breakpoint at every place where Dynamo can meet one; run on every supported torch.

A kind is a function with `@kind`: it sets its breakpoint, and returns what is checked once the program has run. The
compiler's exception filters are in `test_exception_filter_matrix.py`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from dynascope.wire.dap import (
    BreakpointsBody,
    DataAccess,
    DataBreakpoint,
    DisassembleBody,
    FunctionBreakpoint,
    InstructionBreakpoint,
    SourceBreakpoint,
)
from dynascope.wire.to_agent import Disassemble, SetInstructionBreakpoints

from tests.support.agent.scripted_session import ScriptedSession
from tests.support.marks import one_in
from tests.support.matrix.beside_debugpy import BesideDebugpy, Ran
from tests.support.matrix.places import NAMES, Place, places

Check = Callable[[], None]


@dataclasses.dataclass(frozen=True)
class Kind:
    """`statement` and `options` are those of `places`; `cannot_stop` says of places why nothing stops there."""

    set: Callable[[ScriptedSession, Place], Check]
    statement: str = ""
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    run: Callable[[Place], object] = lambda place: place.run()
    cannot_stop: dict[str, str] = dataclasses.field(default_factory=dict)


KINDS: dict[str, Kind] = {}


def kind(**more: Any) -> Callable[[Callable[..., Check]], Callable[..., Check]]:
    def note(set_: Callable[..., Check]) -> Callable[..., Check]:
        KINDS[set_.__name__] = Kind(set_, **more)
        return set_

    return note


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


@kind()
def line(session: ScriptedSession, place: Place) -> Check:
    set_at_line(session, place)
    return stops_at(session, place, 0, 1, 2)


@kind()
def condition(session: ScriptedSession, place: Place) -> Check:
    set_at_line(session, place, condition="i == 1")
    return stops_at(session, place, 1)


@kind()
def condition_on_shapes(session: ScriptedSession, place: Place) -> Check:
    set_at_line(
        session, place, condition=f"i > 0 and {place.tensor}.shape[0] == 3 and {place.tensor}.dtype is torch.float32"
    )
    return stops_at(session, place, 1, 2)


@kind()
def hit_count(session: ScriptedSession, place: Place) -> Check:
    set_at_line(session, place, hit_condition="% 2")
    return stops_at(session, place, 1)


@kind()
def logpoint(session: ScriptedSession, place: Place) -> Check:
    set_at_line(session, place, log_message=f"i is {{i}}, {{{place.tensor}.ndim}}")

    def check() -> None:
        assert not session.stops
        assert [output.output for output in session.outputs if output.path] == [f"i is {i}, 1\n" for i in range(3)]

    return check


@kind()
def function(session: ScriptedSession, place: Place) -> Check:
    session.break_in(FunctionBreakpoint(id=2, name=place.function))

    def check() -> None:
        traced = [stop for stop in session.stops if "NodeCall" not in stop.frames[0].name]
        assert [stop.where for stop in traced] == [f"{place.entry_frame}:{place.entry_line}"]
        assert traced[0].message.reason == "function breakpoint"

    return check


@kind()
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


@kind()
def node_condition(session: ScriptedSession, place: Place) -> Check:
    session.break_in(FunctionBreakpoint(id=3, name="operator.add", condition="node.args[1] == 2"))

    def check() -> None:
        assert [stop.locals["i"] for stop in session.stops if stop.where == f"{place.frame}:{place.line}"] == ["2"]

    return check


@kind()
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


@kind()
def data_used(session: ScriptedSession, place: Place) -> Check:
    wanted = f"local::{place.path}::{place.function}::{place.tensor}"
    session.watch(DataBreakpoint(id=4, data_id=wanted, access_type="read", condition="i > 0"))

    def check() -> None:
        here = [stop for stop in session.stops if stop.frames[0].line == place.line]
        used = [stop for stop in here if f"{place.tensor} is an input of" in str(stop.message.text)]
        assert [stop.where for stop in used] == [f"{place.frame}:{place.line}"] * 2
        assert [stop.locals["i"] for stop in used] == ["1", "2"]

    return check


def watch(session: ScriptedSession, place: Place, what: str, access: DataAccess) -> None:
    wanted = f"local::{place.path}::{place.function}::{what}"
    states = session.watch(DataBreakpoint(id=4, data_id=wanted, access_type=access))
    assert states[0].verified, states


def told_at(session: ScriptedSession, place: Place) -> list[str]:
    """What data breakpoints said at the line, without the line that they name."""
    here = [stop for stop in session.stops if stop.frames[0].line == place.line]
    assert {(stop.where, stop.message.reason, *stop.message.hit_breakpoint_ids) for stop in here} == {
        (f"{place.frame}:{place.line}", "data breakpoint", 4)
    }
    return [str(stop.message.text).rpartition(" (")[0] for stop in here]


@kind(statement="int({0}.shape[0]) == 3 or {0}.sin()", options={"dynamic": True})
def data_specialised(session: ScriptedSession, place: Place) -> Check:
    watch(session, place, place.tensor, "write")

    def check() -> None:
        (told,) = told_at(session, place)
        assert told.startswith(f"{place.tensor}: f32[s") and told.endswith("→ f32[3]")

    return check


@kind(statement="SEEN.append(i)")
def data_mutated(session: ScriptedSession, place: Place) -> Check:
    watch(session, place, "SEEN", "write")

    def check() -> None:
        assert told_at(session, place) == ["SEEN is mutated"] * 3
        assert [stop.locals["i"] for stop in session.stops] == ["0", "1", "2"]

    return check


@kind(statement="LIMIT == 3 or {0}.sin()")
def data_guarded(session: ScriptedSession, place: Place) -> Check:
    watch(session, place, "LIMIT", "read")

    def check() -> None:
        told = told_at(session, place)
        assert told and all("MATCH on G['" in each and each.endswith("installed") for each in told)
        assert {stop.locals["i"] for stop in session.stops} == {"0"}

    return check


@kind(statement="{0} = {0}.double()")
def data_accessed(session: ScriptedSession, place: Place) -> Check:
    """Both: what takes the tensor, and the one time that its dtype changes."""
    watch(session, place, place.tensor, "readWrite")

    def check() -> None:
        told = told_at(session, place)
        assert len([each for each in told if "→ f64[" in each]) == 1
        assert len([each for each in told if f"{place.tensor} is an input of %double" in each]) == 3
        assert len([each for each in told if f"{place.tensor} is an input of %add" in each]) == 3

    return check


@kind()
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


@kind()
def mode_trace(session: ScriptedSession, place: Place) -> Check:
    set_at_line(session, place, mode="trace")
    return stops_at(session, place, 0, 1, 2)


@kind()
def mode_run(session: ScriptedSession, place: Place) -> Check:
    """The line runs, outside any code of Dynamo's, with real tensors: debugpy has it to stop at."""
    state = session.break_at(place.path, SourceBreakpoint(id=6, line=place.line, mode="run"))[0]
    assert state.verified and f"{place.function} is left uncompiled" in str(state.message), state

    def check() -> None:
        assert isinstance(session, BesideDebugpy)
        here = [ran for ran in session.ran if ran.line == place.line]
        assert here == [Ran(place.line, place.function, i, torch.Tensor) for i in range(3)]
        assert not session.stops

    return check


@kind()
def mode_generated(session: ScriptedSession, place: Place) -> Check:
    """What was generated for the function, or for what inlined it, is entered where debugpy was asked to stop."""
    state = session.break_at(place.path, SourceBreakpoint(id=7, line=place.line, mode="generated"))[0]
    assert state.verified and "Not compiled yet" in str(state.message), state

    def check() -> None:
        assert isinstance(session, BesideDebugpy)
        assert session.entered and {number for number, _ in session.entered} == {7}
        assert "generated for" in str(session.changes[-1].message), session.changes
        assert not session.stops

    return check


@kind(
    run=Place.backward_of_forward,
    cannot_stop={
        "resume_function": "autograd nodes that compiled code makes know no line of the forward",
        "compiled_autograd": "what runs in a backward makes no autograd nodes: none is captured twice",
    },
)
def mode_backward(session: ScriptedSession, place: Place) -> Check:
    state = session.break_at(place.path, SourceBreakpoint(id=8, line=place.line, mode="backward"))[0]
    assert state.verified and "in the backward" in str(state.message), state

    def check() -> None:
        nodes = [stop for stop in session.stops if stop.frames[0].name.startswith("AddBackward0 [!0 NodeCall")]
        assert nodes and {stop.frames[0].line for stop in session.stops} == {place.line}
        assert {(stop.message.reason, *stop.message.hit_breakpoint_ids) for stop in session.stops} == {
            ("breakpoint", 8)
        }

    return check


@pytest.mark.parametrize("place_name", one_in(6, NAMES))
@pytest.mark.parametrize("kind_name", sorted(KINDS))
def test_breakpoint(kind_name: str, place_name: str, tmp_path: Path) -> None:
    kind = KINDS[kind_name]
    place = places(tmp_path, kind.statement, **kind.options)[place_name]
    session = ScriptedSession()
    if kind_name in ("mode_run", "mode_generated"):
        session = BesideDebugpy(place.path, place.tensor)
    check = kind.set(session, place)
    with session.attached():
        kind.run(place)
    if place_name in kind.cannot_stop:
        assert not session.stops, kind.cannot_stop[place_name]
    else:
        check()
