"""The hook decides where to stop, from what a fake Dynamo tells it: no torch is needed for that."""

from __future__ import annotations

import types
from typing import Any

import pytest
from dynascope.agent.suspension.stops import Stop
from dynascope.agent.tracing.activation import Activation
from dynascope.agent.tracing.stop_check import CompileOutcome, TraceObserver
from dynascope.agent.tracing.thread_state import ThreadState
from dynascope.wire.from_agent import ConsoleOutput

from tests.support.fake_dynamo import FakeDynamo


def helper(x: Any) -> Any:
    y = x + 1
    return y * 2


def function(x: Any) -> Any:
    a = x + 1
    b = helper(a)
    return a + b


FIRST = function.__code__.co_firstlineno
INSIDE = helper.__code__.co_firstlineno


class Check:
    """Stops at these lines of any code."""

    def __init__(self, *lines: int, every_instruction: bool = False) -> None:
        self.lines = lines
        self.every_instruction = every_instruction
        self.seen: list[int] = []

    def may_stop_in(self, code: types.CodeType) -> bool:
        return any(line in self.lines for _, _, line in code.co_lines())

    def stops_at(self, state: ThreadState, activation: Activation) -> Stop | None:
        assert activation.line is not None
        self.seen.append(activation.line)
        return Stop("breakpoint") if activation.line in self.lines and activation.begins_line else None


@pytest.fixture
def dynamo(monkeypatch: pytest.MonkeyPatch) -> FakeDynamo:
    return FakeDynamo(monkeypatch)


def test_a_check_is_asked_where_a_line_begins(dynamo: FakeDynamo):
    check = Check(FIRST + 2)
    dynamo.hook.add_check(check)
    dynamo.compile(function)
    assert check.seen == [FIRST + 1, FIRST + 2, FIRST + 3]
    assert dynamo.stops.reasons == ["breakpoint"]


def test_no_check_is_asked_in_a_frame_in_which_nothing_can_stop(dynamo: FakeDynamo):
    check = Check(INSIDE + 1)
    dynamo.hook.add_check(check)
    dynamo.inlined[FIRST + 2] = helper
    dynamo.compile(function)
    assert check.seen == [INSIDE + 1, INSIDE + 2] and dynamo.stops.reasons == ["breakpoint"]


def test_what_an_earlier_attempt_has_passed_stops_no_second_time(dynamo: FakeDynamo):
    check = Check(FIRST + 2)
    dynamo.hook.add_check(check)
    dynamo.compile(function, attempts=3)
    assert dynamo.stops.reasons == ["breakpoint"]


def test_a_check_of_every_instruction_is_asked_in_replays_too(dynamo: FakeDynamo):
    check = Check(FIRST + 2, every_instruction=True)
    dynamo.hook.add_check(check)
    dynamo.compile(function)
    once = len(check.seen)
    assert once > 3
    check.seen.clear()
    dynamo.compile(function, attempts=2)
    assert len(check.seen) == 2 * once


def test_two_checks_at_one_line_are_one_stop(dynamo: FakeDynamo):
    dynamo.hook.add_check(Check(FIRST + 1))
    dynamo.hook.add_check(Check(FIRST + 1))
    dynamo.compile(function)
    assert dynamo.stops.reasons == ["breakpoint"]


def test_a_check_that_is_removed_is_asked_no_more(dynamo: FakeDynamo):
    check = Check(FIRST + 1)
    dynamo.hook.set_check(check, is_needed=True)
    dynamo.hook.set_check(check, is_needed=False)
    dynamo.compile(function)
    assert check.seen == [] and dynamo.stops.reasons == []


@pytest.mark.parametrize(
    ("command", "stops"), [("next", ["breakpoint", "step", "step"]), ("stepIn", ["breakpoint", "step", "step", "step"])]
)
def test_steps_enter_calls_or_pass_them(monkeypatch: pytest.MonkeyPatch, command: Any, stops: list[str]):
    dynamo = FakeDynamo(monkeypatch, *[command] * (len(stops) - 1))
    dynamo.inlined[FIRST + 2] = helper
    dynamo.hook.add_check(Check(FIRST + 1))
    dynamo.compile(function)
    assert dynamo.stops.reasons == stops


def test_a_pause_stops_at_the_next_instruction(dynamo: FakeDynamo):
    dynamo.suspension.pauses = True
    dynamo.compile(function)
    assert dynamo.stops.reasons == ["pause"]


def test_stop_on_entry_stops_once(dynamo: FakeDynamo):
    dynamo.hook.set_stop_on_entry(True)
    dynamo.compile(function)
    dynamo.compile(helper)
    assert dynamo.stops.reasons == ["entry"]


def test_an_error_of_a_check_is_reported_once_and_the_compile_goes_on(dynamo: FakeDynamo):
    class Broken(Check):
        def stops_at(self, state: ThreadState, activation: Activation) -> Stop | None:
            raise LookupError("a mistake")

    dynamo.hook.add_check(Broken(FIRST + 1))
    dynamo.compile(function)
    (text,) = [message.output for message in dynamo.sent if isinstance(message, ConsoleOutput)]
    assert "a mistake" in text and "compile continues" in text


def test_observers_get_the_outcome_of_each_compile(dynamo: FakeDynamo):
    outcomes: list[CompileOutcome] = []
    firsts: list[None] = []

    class Observer(TraceObserver):
        def first_compile(self) -> None:
            firsts.append(None)

        def compile_ended(self, outcome: CompileOutcome) -> None:
            outcomes.append(outcome)

    dynamo.hook.compiles.observe(Observer())
    dynamo.compile(function)
    dynamo.compile(helper)
    assert len(outcomes) == 2 and len(firsts) == 1


def test_the_state_of_a_compile_is_dropped_with_it(dynamo: FakeDynamo):
    dynamo.hook.add_check(Check(FIRST + 1))
    dynamo.compile(function)
    assert dynamo.hook.threads.current().compile is None


def test_events_are_served_while_a_frame_is_traced_and_only_then(dynamo: FakeDynamo):
    served: list[str] = []

    class Serving(Check):
        def stops_at(self, state: ThreadState, activation: Activation) -> Stop | None:
            dynamo.hook.during_instruction(lambda state, stack: served.append(stack[0].f_code.co_name))
            return None

    dynamo.hook.during_instruction(lambda state, stack: served.append("before"))
    dynamo.hook.add_check(Serving(FIRST + 1))
    dynamo.compile(function)
    assert served == ["function"] * 3


def test_a_removed_hook_stops_nothing(dynamo: FakeDynamo):
    dynamo.hook.add_check(Check(FIRST + 1))
    dynamo.hook.remove()
    dynamo.compile(function)
    assert dynamo.removed == ["compile", "activation"] and dynamo.stops.reasons == []
