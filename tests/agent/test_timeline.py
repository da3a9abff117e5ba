"""The timeline: what happened in compiles, in order, and the ways to the events of the compile that is stopped."""

from __future__ import annotations

import re
import runpy

import pytest
import torch._dynamo
from dynascope.agent.session.timeline import KEPT, TimelineEvents
from dynascope.wire.beyond_dap import TimelineEvent

from tests.support.agent.scripted_session import ScriptedSession
from tests.support.marks import PROGRAMS, labels, load

pytestmark = pytest.mark.second_leg

STEPS = PROGRAMS / "traced" / "steps.py"
LABELS = labels(STEPS)
NAMES = {line: label for label, line in LABELS.items()}


def events(session: ScriptedSession) -> list[TimelineEvent]:
    return session.agent.session.timeline.newest(KEPT).events


def stepped(session: ScriptedSession) -> list[str]:
    """Compile the program with the stops of the session; the labels of their lines."""
    program = load(STEPS)
    with session.attached():
        program.main()
    return [NAMES[stop.frames[0].line] for stop in session.stops]


def test_compiles_attempts_breaks_and_stops_are_listed_in_order() -> None:
    session = ScriptedSession()
    session.break_at(STEPS, LABELS["loop_body"])
    stepped(session)
    rows = [(event.compile_id, event.kind, NAMES.get(event.line or 0)) for event in events(session)]
    assert rows[:7] == [
        ("0/0", "compile", None),
        ("0/0", "stop", "loop_body"),
        ("0/0", "stop", "loop_body"),
        ("0/0", "graph break", "graph_break"),
        ("0/0_1", "restart", None),
        ("0/0", "compiled", None),
        ("1/0", "compile", "graph_break"),
    ]
    assert [event.number for event in events(session)] == list(range(1, len(rows) + 1))
    assert {event.compile_id for event in events(session) if event.target_id} >= {"0/0", "0/0_1", "1/0"}
    times = [event.seconds for event in events(session)]
    assert times == sorted(times) and all(event.source.path == str(STEPS) for event in events(session) if event.source)
    assert events(session)[3].text == "Graph break: Call to `torch._dynamo.graph_break()`"


def test_recompiles_specializations_skips_and_failures() -> None:
    session = ScriptedSession()
    path = PROGRAMS / "recorded" / "decisions.py"
    session.break_in("a_function_of_this_name_is_never_called")
    with session.attached(), torch._dynamo.config.patch(recompile_limit=8):  # the program sets it
        runpy.run_path(str(path), run_name="__main__")
    found = {event.kind: event for event in reversed(events(session))}
    assert found["recompile"].text.startswith("Recompiled because of x.size()[0]: it does not match 0/0: ")
    assert found["recompile"].compile_id == "0/1"
    assert found["recompile"].target_id is not None, "the line that has the guard is kept"
    assert re.fullmatch(r"Specialised: s\d+ \(x\.size\(\)\[0\]\) is fixed to 6", found["specialization"].text)
    assert found["skipped"].text.startswith(
        "Not compiled: limited runs as plain Python"
    )  # torch 2.13 and later say why
    assert found["failed"].text.startswith("Could not compile failing: BackendCompilerFailed:")


def test_back_to_an_event_and_forth_again() -> None:
    session = ScriptedSession()
    session.break_at(STEPS, LABELS["helper_last"], LABELS["loop_body"])
    rows: list[int] = []

    def move(session: ScriptedSession) -> None:
        rows.append(len(events(session)))
        if 3 <= len(session.stops) <= 5:
            number = {3: 1, 4: 3, 5: 2}[len(session.stops)]  # the compile's begin, the second stop, the first stop
            target = next(event.target_id for event in events(session) if event.number == number)
            assert session.go_back("goto", target=target) is None

    session.at_stop = move
    assert stepped(session)[:6] == ["helper_last", "loop_body", "loop_body", "first", "loop_body", "helper_last"]
    assert rows[:6] == [2, 3, 4, 4, 4, 4], "a trace that is repeated adds no events"
    assert [event.kind for event in events(session)].count("graph break") == 3


def test_each_event_leads_to_the_attempt_in_which_it_happened() -> None:
    session = ScriptedSession()
    session.break_in("a_function_of_this_name_is_never_called")
    session.break_at(STEPS, LABELS["loop_body"], LABELS["after_break"])
    ways: list[int | None] = []
    stops: list[int] = []

    def look_back(session: ScriptedSession) -> None:
        live = f"fn [1/0]:{LABELS['after_break']}"
        if session.places.count(live) == 1 and session.places[-1] == live:
            ways[:] = [event.target_id for event in events(session) if event.compile_id.startswith("0/0")]
        if ways:
            assert session.go_back("goto", target=ways.pop(0)) is None
        elif "past" in session.stops[-1].where and len(stops) < 2:
            stops.append(sum(event.kind == "stop" for event in events(session)))
            assert session.go_back("reverseContinue") is None  # from the end to the two stops

    session.at_stop = look_back
    stepped(session)
    there = [stop.where.replace(" past", "") for stop in session.stops if "past" in stop.where]
    first, body, broken = LABELS["first"], LABELS["loop_body"], LABELS["graph_break"]
    assert there[:6] == [
        f"fn [0/0]:{first}",
        f"fn [0/0]:{body}",
        f"fn [0/0]:{body}",
        f"fn [0/0]:{broken}",
        f"fn [0/0_1]:{first}",
        f"fn [0/0_1]:{broken}",  # it is compiled
    ]
    assert there[6:8] == [f"fn [0/0_1]:{body}", f"fn [0/0_1]:{body}"]
    assert stops == [3, 3], "looking back is no event"


def test_a_compile_that_is_traced_again_with_a_change_begins_once() -> None:
    path = PROGRAMS / "traced" / "what_if.py"
    lines = labels(path)
    session = ScriptedSession()
    session.break_at(path, lines["flag"], lines["last"])
    found: list[TimelineEvent] = []

    def keep(session: ScriptedSession) -> None:
        if len(session.stops) == 1:
            session.type("what if n = 8")
            session.type("what if keep")
        elif len(session.stops) == 2:
            found.extend(events(session))
            assert session.go_back("goto", target=found[0].target_id) is None

    session.at_stop = keep
    program = load(path)
    with session.attached():
        program.main_once()
    assert [(event.kind, event.target_id is not None) for event in found] == [
        ("compile", True),
        ("stop", True),
        ("restart", True),
        ("stop", True),
    ]
    assert found[2].text.endswith("again, with what the user keeps: n = 8.")
    assert session.stops[2].message.reason == "goto" and session.stops[2].frames[0].name.endswith("[0/0]")


def test_forth_again_to_a_graph_break_from_which_one_has_gone_back() -> None:
    session = ScriptedSession()
    session.catch("graphBreak", "first chance")

    def move(session: ScriptedSession) -> None:
        if len(session.stops) <= 2:
            found = events(session)
            assert session.go_back("goto", target=found[len(session.stops) - 1].target_id) is None

    session.at_stop = move
    assert stepped(session)[:3] == ["graph_break", "first", "graph_break"]
    assert [stop.message.reason for stop in session.stops[:3]] == ["exception", "goto", "goto"]


def test_without_a_stop_only_the_newest_events_are_kept() -> None:
    timeline = TimelineEvents()
    for number in range(KEPT + 5):
        timeline.add("compiled", f"f{number} is compiled.")
    body = timeline.newest(2)
    assert [event.number for event in body.events] == [KEPT + 4, KEPT + 5] and body.total == KEPT + 5
    assert len(timeline.newest(10 * KEPT).events) == KEPT


@pytest.mark.parametrize("replays", [True, False])
def test_an_event_that_a_repeated_trace_meets_again_is_listed_once(replays: bool) -> None:
    timeline = TimelineEvents()
    for _ in range(2):
        timeline.add("graph break", "Graph break: no.", position=7)
        if not replays:
            timeline.attempt_ends(lambda position: None)
    assert len(timeline.newest(9).events) == (1 if replays else 2)
