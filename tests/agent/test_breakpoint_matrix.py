"""Every kind of breakpoint at every place where Dynamo can meet one; run on every supported torch.

A kind is a function with `@kind`: it sets its breakpoint, and returns what is checked once the program has run.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from dynascope.wire.dap import FunctionBreakpoint, SourceBreakpoint

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


@pytest.mark.parametrize("place_name", NAMES)
@pytest.mark.parametrize("kind_name", sorted(KINDS))
def test_breakpoint(kind_name: str, place_name: str, tmp_path: Path) -> None:
    place = places(tmp_path)[place_name]
    session = ScriptedSession()
    check = KINDS[kind_name](session, place)
    with session.attached():
        place.run()
    check()
