"""Back and forth in one compile: where it arrives, and what stops on the way forward again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from dynascope.wire.dap import DataBreakpoint, FunctionBreakpoint, SourceBreakpoint
from dynascope.wire.messages import ResumeCommand, TravelCommand

from tests.support.agent.scripted_session import ScriptedSession
from tests.support.marks import PROGRAMS, labels, load

pytestmark = pytest.mark.second_leg

PATH = PROGRAMS / "traced" / "steps.py"
LABELS = labels(PATH)
NAMES = {line: label for label, line in LABELS.items()}

Commands = Sequence[ResumeCommand | TravelCommand]


def places(session: ScriptedSession, main: str = "main") -> list[str]:
    """Labels of the lines of all stops."""
    program = load(PATH)
    with session.attached():
        getattr(program, main)()
    assert [output.output for output in session.outputs if "dynascope" in output.output] == []
    return [NAMES[stop.frames[0].line] for stop in session.stops]


def walk(start: str, *commands: ResumeCommand | TravelCommand) -> list[str]:
    """Labels of the lines at which the commands ended, the first of which began at the first stop at `start`."""
    session = ScriptedSession(commands)
    session.break_at(PATH, LABELS[start])
    return places(session)[1 : len(commands) + 1]


def test_step_back_undoes_next() -> None:
    assert walk("call", "next", "stepBack") == ["after_call", "call"]
    assert walk("loop", "next", "next", "stepBack", "stepBack") == ["loop_body", "loop", "loop_body", "loop"]


def test_next_out_of_a_function_is_undone_in_that_function() -> None:
    assert walk("helper_last", "next", "stepBack", "stepBack") == ["call", "helper_last", "helper_first"]


def test_step_back_from_the_first_line_of_a_call_leads_to_the_caller() -> None:
    assert walk("helper_first", "stepBack", "stepBack") == ["call", "first"]


def test_step_back_leaves_a_generator_for_its_consumer() -> None:
    assert walk("pieces_yield", "stepBack", "stepBack") == ["pieces_for", "loop"]


def test_what_is_shown_after_a_step_back_is_what_was_shown_there() -> None:
    session = ScriptedSession(["next", "stepBack", "next"])
    session.break_at(PATH, LABELS["call"])
    assert places(session) == ["call", "after_call", "call", "after_call"]
    there, beyond, again, beyond_again = (stop.locals for stop in session.stops)
    assert there == again != beyond == beyond_again


def test_step_back_by_instruction() -> None:
    session = ScriptedSession()
    session.break_at(PATH, LABELS["helper_last"])
    pointers = []

    def back(session: ScriptedSession) -> None:
        pointers.append(int(str(session.stops[-1].frames[0].instruction_pointer_reference), 16))
        if len(session.stops) < 4:
            assert session.go_back("stepBack", "instruction") is None

    session.at_stop = back
    places(session)
    assert len(pointers) == 4 and pointers == sorted(pointers, reverse=True) and len(set(pointers)) == 4


@pytest.mark.parametrize(("frame", "first"), [(0, "helper_first"), (1, "first")])
def test_restart_frame_leads_to_the_first_line_of_that_call(frame: int, first: str) -> None:
    session = ScriptedSession()
    session.break_at(PATH, LABELS["helper_last"])

    def restart(session: ScriptedSession) -> None:
        if len(session.stops) == 1:
            assert session.go_back("restartFrame", frame=frame) is None

    session.at_stop = restart
    assert places(session) == ["helper_last", first]
    assert session.stops[1].message.reason == "restart"


def test_reverse_continue_leads_to_the_previous_breakpoint() -> None:
    session = ScriptedSession(["continue", "continue", "reverseContinue", "reverseContinue", "reverseContinue"])
    session.break_at(PATH, LABELS["call"], LABELS["helper_last"], LABELS["after_call"])
    # before the first breakpoint there is only the start of the compile
    expected = ["call", "helper_last", "after_call", "helper_last", "call", "first"]
    assert places(session) == expected
    ids = [stop.message.hit_breakpoint_ids for stop in session.stops]
    assert ids == [[1], [2], [3], [2], [1], []]


def test_forward_again_nothing_stops_that_stopped_there_before() -> None:
    session = ScriptedSession(["continue", "continue", "reverseContinue", "reverseContinue", "continue"])
    session.break_at(PATH, LABELS["first"], LABELS["call"], LABELS["after_call"], LABELS["after_break"])
    assert places(session) == ["first", "call", "after_call", "call", "first", "after_break"]


def test_steps_stop_there_again() -> None:
    commands: Commands = ["continue", "reverseContinue", "next", "next", "next"]
    session = ScriptedSession(commands)
    session.break_at(PATH, LABELS["first"], LABELS["after_call"])
    assert places(session)[:6] == ["first", "after_call", "first", "call", "after_call", "loop"]


def test_a_breakpoint_set_after_going_back_stops() -> None:
    session = ScriptedSession(["continue", "reverseContinue", "continue", "continue"])

    def add(session: ScriptedSession) -> None:
        if len(session.stops) == 3:
            session.break_at(PATH, LABELS["first"], LABELS["after_call"], LABELS["call"])

    session.break_at(PATH, LABELS["first"], LABELS["after_call"])
    session.at_stop = add
    # after_call has stopped; call, which is new, has not
    assert places(session) == ["first", "after_call", "first", "call"]


def test_a_breakpoint_set_later_is_found_by_reverse_continue() -> None:
    session = ScriptedSession(["reverseContinue"])

    def add(session: ScriptedSession) -> None:
        if len(session.stops) == 1:
            session.break_at(PATH, LABELS["after_call"], LABELS["helper_first"])

    session.break_at(PATH, LABELS["after_call"])
    session.at_stop = add
    assert places(session)[:2] == ["after_call", "helper_first"]


def test_reverse_continue_heeds_conditions_hit_conditions_and_passes_logpoints() -> None:
    def line(id: int, label: str, **more: Any) -> SourceBreakpoint:
        return SourceBreakpoint(id=id, line=LABELS[label], **more)

    session = ScriptedSession(["continue", "reverseContinue", "reverseContinue"])
    session.break_at(
        PATH,
        line(1, "call", condition="x.shape[0] == 2"),
        line(2, "helper_first", condition="q.shape[0] == 3"),
        line(3, "helper_last", log_message="{s.shape}"),
        line(4, "loop_body", hit_condition="2"),
    )
    assert places(session) == ["call", "loop_body", "call", "first"]
    assert [stop.message.hit_breakpoint_ids for stop in session.stops] == [[1], [4], [1], []]
    logged = [output.output for output in session.outputs]
    assert logged == ["torch.Size([2, 3])\n"], "a logpoint writes once, however often it is passed"


@pytest.mark.second_leg_only
def test_reverse_continue_returns_to_a_hit_in_a_loop() -> None:
    session = ScriptedSession(["continue", "continue", "reverseContinue", "next"])
    session.break_at(PATH, LABELS["loop_body"], LABELS["graph_break"])
    assert places(session)[:5] == ["loop_body", "loop_body", "graph_break", "loop_body", "loop"]


def test_reverse_continue_stops_at_function_breakpoints() -> None:
    session = ScriptedSession(["continue", "reverseContinue"])
    session.break_in(FunctionBreakpoint(id=100, name="helper"))
    session.break_at(PATH, LABELS["after_call"])
    assert places(session)[:3] == ["helper_first", "after_call", "helper_first"]
    assert session.stops[2].message.reason == "function breakpoint"


def test_reverse_continue_stops_where_a_node_entered_the_graph() -> None:
    session = ScriptedSession(["continue", "reverseContinue", "next"])
    session.break_in(FunctionBreakpoint(id=100, name="sin"))
    session.break_at(PATH, LABELS["after_call"])
    assert places(session)[:4] == ["helper_last", "after_call", "helper_last", "call"]
    first, _, again, _ = session.stops[:4]
    assert first.message.text == again.message.text and first.locals == again.locals


def test_reverse_continue_stops_where_a_value_changed() -> None:
    session = ScriptedSession(["continue", "reverseContinue", "stepBack"])
    session.break_at(PATH, LABELS["graph_break"])
    session.watch(DataBreakpoint(id=50, data_id=f"local::{PATH}::pieces::j", access_type="write"))
    assert places(session)[:4] == ["pieces_yield", "graph_break", "pieces_yield", "pieces_for"]
    change, _, again, _ = session.stops[:4]
    assert change.message.reason == again.message.reason == "data breakpoint"
    assert str(change.message.text).startswith("j: 0 → 1") and change.message.text == again.message.text


def test_reverse_continue_stops_at_comptime_breakpoint() -> None:
    session = ScriptedSession(["next", "reverseContinue", "continue"])
    assert places(session, "main_stopping") == ["comptime", "after_comptime", "comptime"]


def test_reverse_continue_stops_at_an_exception_filter() -> None:
    session = ScriptedSession(["next", "reverseContinue"])
    session.catch("graphBreak", "first chance")
    found = places(session)
    assert found[0] == "graph_break"


def test_the_first_line_of_a_compile_is_where_going_back_ends() -> None:
    session = ScriptedSession()
    reasons: list[str | None] = []
    session.at_stop = lambda session: reasons.append(session.go_back("stepBack"))
    session.break_at(PATH, LABELS["first"])
    places(session)
    assert len(reasons) == 1 and str(reasons[0]).startswith("This is the first line that Dynamo traced")


@pytest.mark.parametrize(
    ("main", "at", "before", "effect"),
    [
        ("main_printing", "prints_last", "prints", "the functions given to `comptime` would run, and print, again"),
        ("main_lazy", "lazy_last", "lazy_call", "the lazy module LazyLinear is initialized by now"),
    ],
)
def test_what_cannot_be_undone_is_said_once_before(
    main: str, at: str, before: str, effect: str, capsys: pytest.CaptureFixture[str]
) -> None:
    session = ScriptedSession()
    session.break_at(PATH, LABELS[at])
    reasons: list[str | None] = []

    def back(session: ScriptedSession) -> None:
        if len(session.stops) == 1:
            reasons.extend(session.go_back("stepBack") for _ in range(2))

    session.at_stop = back
    assert places(session, main) == [at, before]
    assert effect in str(reasons[0]) and "Give the command again" in str(reasons[0])
    assert reasons[1] is None


def test_comptime_breakpoint_is_nothing_to_warn_of() -> None:
    session = ScriptedSession(["next", "stepBack", "next"])
    assert places(session, "main_stopping") == ["comptime", "after_comptime", "comptime", "after_comptime"]


@pytest.mark.parametrize("condition", [None, "first chance"])
def test_back_from_a_graph_break_and_on_again(condition: str | None) -> None:
    plain = ScriptedSession()
    plain.catch("graphBreak", condition)
    session = ScriptedSession(["stepBack", "stepBack", "continue"])
    session.catch("graphBreak", condition)
    found = places(session)
    assert found[:3] == ["graph_break", "graph_break", "loop"]
    assert [stop.message.reason for stop in session.stops[:3]] == ["exception", "step", "step"]
    assert found[3:] == places(plain)[1:], "the break that has stopped does not stop again"


def test_reverse_continue_returns_to_a_graph_break_that_was_passed() -> None:
    session = ScriptedSession(["continue", "reverseContinue"])
    session.catch("graphBreak", "first chance")
    session.break_at(PATH, LABELS["loop_body"])
    program = load(PATH)
    with session.attached():
        program.main()
    places_of = [(NAMES[stop.frames[0].line], stop.message.reason) for stop in session.stops[:3]]
    assert places_of == [("loop_body", "breakpoint"), ("loop_body", "breakpoint"), ("loop_body", "breakpoint")]


def test_a_compile_that_had_begun_before_the_session_does_not_go_back(monkeypatch: pytest.MonkeyPatch) -> None:
    from dynascope.agent.speculation import retrace

    monkeypatch.setattr(retrace._Arguments, "of", classmethod(lambda cls, args: None))  # as on another torch, too
    session = ScriptedSession()
    session.break_at(PATH, LABELS["call"])
    reasons: list[str | None] = []
    session.at_stop = lambda session: reasons.append(session.go_back("stepBack"))
    assert places(session) == ["call"]
    assert not session.stops[0].message.goes_back
    assert str(reasons[0]).startswith("Only compile time goes back")
