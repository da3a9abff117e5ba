"""Every breakpoint of the programs under `programs/` stops where, as often, and with what its comment says."""

from __future__ import annotations

import pytest

from tests.support.agent.scripted_session import ScriptedSession
from tests.support.marks import PROGRAMS, expectations, load

pytestmark = pytest.mark.second_leg

TRACED = PROGRAMS / "traced"


@pytest.mark.second_leg_only
@pytest.mark.parametrize("name", sorted(path.stem for path in TRACED.glob("*.py") if "# stop" in path.read_text()))
def test_every_marked_line_stops_as_it_says(name: str) -> None:
    path = TRACED / f"{name}.py"
    expected = expectations(path)
    session = ScriptedSession()
    states = session.break_at(path, *expected)
    assert all(state.verified for state in states)
    program = load(path)
    with session.attached():
        program.main()
    for line, stops in expected.items():
        here = [stop for stop in session.stops if stop.frames[0].line == line]
        assert [stop.frames[0].name for stop in here] == [each.frame for each in stops], f"line {line}"
        for stop, each in zip(here, stops, strict=True):
            shown = {name: stop.locals.get(name) for name in each.locals}
            assert shown == each.locals, f"line {line}"
    assert {stop.frames[0].source.path for stop in session.stops} == {str(path)}  # type: ignore[union-attr]
