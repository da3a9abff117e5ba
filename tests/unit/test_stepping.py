"""The state machine of steps, driven without Dynamo."""

from __future__ import annotations

from dynascope.agent.tracing.stepping import StepMode, Stepping

ROOT, CALLEE = 1, 2
SHOWN, HIDDEN = (lambda: True), (lambda: False)


def at(command: str, *frames: int) -> Stepping:
    stepping = Stepping()
    stepping.command(command, frames, [f"function {frame}" for frame in frames])  # type: ignore[arg-type]
    return stepping


def test_continue_ends_nowhere() -> None:
    stepping = at("continue", ROOT)
    assert not stepping.ends_at_line(ROOT, SHOWN)
    assert not stepping.follows(ROOT)
    assert not stepping.compile_ends()


def test_step_in_ends_at_the_next_shown_line_of_any_frame() -> None:
    stepping = at("stepIn", ROOT)
    assert stepping.follows(CALLEE)
    assert not stepping.ends_at_line(CALLEE, HIDDEN)
    assert stepping.ends_at_line(CALLEE, SHOWN)


def test_next_stays_in_its_frame() -> None:
    stepping = at("next", ROOT)
    assert not stepping.follows(CALLEE)
    assert not stepping.ends_at_line(CALLEE, SHOWN)
    assert stepping.frame_left(CALLEE, [(ROOT, True)]) is None
    assert stepping.ends_at_line(ROOT, SHOWN)


def test_next_at_the_end_of_a_callee_ends_in_its_caller_amid_the_line() -> None:
    stepping = at("next", CALLEE, ROOT)
    assert stepping.frame_left(CALLEE, [(ROOT, True)]) == ROOT
    assert stepping.ends_at_instruction(ROOT, SHOWN)


def test_next_passes_over_hidden_callers() -> None:
    stepping = at("next", 3, CALLEE, ROOT)
    assert stepping.frame_left(3, [(CALLEE, False), (ROOT, True)]) == ROOT
    assert not stepping.ends_at_instruction(CALLEE, SHOWN)
    assert stepping.ends_at_instruction(ROOT, SHOWN)


def test_step_in_that_returns_to_a_hidden_caller_may_end_in_what_that_calls() -> None:
    stepping = at("stepIn", 3, CALLEE, ROOT)
    assert stepping.frame_left(3, [(CALLEE, False), (ROOT, True)]) is None
    assert stepping.ends_at_line(4, SHOWN)
    assert stepping.frame_left(CALLEE, [(ROOT, True)]) == ROOT
    assert stepping.ends_at_instruction(ROOT, SHOWN)


def test_step_out_ends_in_the_caller_only() -> None:
    stepping = at("stepOut", CALLEE, ROOT)
    assert not stepping.ends_at_line(CALLEE, SHOWN)
    assert stepping.ends_at_instruction(ROOT, SHOWN)


def test_a_generator_returns_to_its_consumer_at_each_yield() -> None:
    stepping = at("next", CALLEE, ROOT)
    assert stepping.frame_left(CALLEE, [(ROOT, True)]) == ROOT
    stepping.cancel()
    stepping.command("stepIn", [ROOT], ["function 1"])
    assert stepping.ends_at_line(CALLEE, SHOWN), "the resumed generator keeps its integer"


def test_a_restart_takes_back_what_unwinding_did() -> None:
    stepping = at("next", CALLEE, ROOT)
    stepping.frame_left(CALLEE, [(ROOT, True)])
    stepping.frame_left(ROOT, [])
    assert stepping.mode is StepMode.LEAVING
    stepping.trace_restarts()
    assert stepping.ends_at_line(CALLEE, SHOWN)


def test_a_step_that_leaves_is_handed_over_once() -> None:
    stepping = at("next", ROOT)
    assert stepping.frame_left(ROOT, []) is None
    assert stepping.compile_ends()
    assert not stepping.compile_ends()


def test_next_goes_on_in_the_continuation_of_its_function_alone() -> None:
    stepping = at("next", ROOT)
    stepping.compile_ends()
    assert not stepping.compile_begins(ROOT, "function 7", continues=False, elsewhere=False)
    assert not stepping.compile_begins(ROOT, "function 1", continues=False, elsewhere=False)
    assert stepping.compile_begins(ROOT, "function 1", continues=True, elsewhere=False)
    assert stepping.ends_at_line(ROOT, SHOWN)
    assert not stepping.ends_at_line(CALLEE, SHOWN)


def test_step_in_goes_on_in_any_compile() -> None:
    stepping = at("stepIn", ROOT)
    stepping.compile_ends()
    assert stepping.compile_begins(ROOT, "function 7", continues=False, elsewhere=False)
    assert stepping.ends_at_line(CALLEE, SHOWN)


def test_step_out_of_the_outermost_frame_is_the_programs() -> None:
    stepping = at("stepOut", ROOT)
    assert stepping.compile_ends()
    assert not stepping.compile_begins(ROOT, "function 1", continues=True, elsewhere=False)


def test_where_nobody_ends_steps_at_runtime_any_compile_does() -> None:
    stepping = at("stepOut", ROOT)
    stepping.compile_ends()
    assert stepping.compile_begins(ROOT, "function 7", continues=False, elsewhere=True)


def test_a_stop_at_runtime_ends_the_step() -> None:
    stepping = at("next", ROOT)
    stepping.compile_ends()
    stepping.cancel()
    assert not stepping.compile_begins(ROOT, "function 1", continues=True, elsewhere=False)


def by_instruction(command: str, *frames: int) -> Stepping:
    stepping = Stepping()
    stepping.command(command, frames, [f"function {frame}" for frame in frames], "instruction")  # type: ignore[arg-type]
    return stepping


def test_steps_by_instruction_end_amid_a_line() -> None:
    over, into = by_instruction("next", ROOT), by_instruction("stepIn", ROOT)
    assert over.heeds_instructions and into.heeds_instructions
    assert over.ends_at_instruction(ROOT, SHOWN) and not over.ends_at_instruction(CALLEE, SHOWN)
    assert into.ends_at_instruction(CALLEE, SHOWN) and not into.ends_at_instruction(CALLEE, HIDDEN)
    over.cancel()
    assert not over.heeds_instructions


def test_a_step_by_instruction_goes_on_behind_a_graph_break() -> None:
    stepping = by_instruction("next", ROOT)
    stepping.compile_ends()
    assert stepping.compile_begins(ROOT, "function 1", continues=True, elsewhere=False)
    assert stepping.ends_at_instruction(ROOT, SHOWN)


def into_call(at: int, call: int) -> Stepping:
    stepping = Stepping()
    stepping.command("stepIn", [ROOT], ["function 1"], "line", (at, call))
    return stepping


def test_a_step_into_a_chosen_call_passes_over_those_before_it() -> None:
    stepping = into_call(4, 9)
    stepping.reaches(ROOT, 6)
    assert not stepping.follows(CALLEE) and not stepping.ends_at_line(ROOT, SHOWN)
    stepping.reaches(ROOT, 9)
    assert stepping.follows(CALLEE) and stepping.ends_at_line(CALLEE, SHOWN)


def test_a_chosen_call_that_is_not_made_ends_the_step_at_the_next_line() -> None:
    stepping = into_call(4, 9)
    stepping.reaches(ROOT, 12)
    assert stepping.ends_at_line(ROOT, SHOWN) and not stepping.follows(CALLEE)


def test_a_restart_after_a_chosen_call_does_not_wait_for_it_again() -> None:
    stepping = into_call(4, 9)
    stepping.reaches(ROOT, 9)
    stepping.trace_restarts()
    assert stepping.ends_at_line(CALLEE, SHOWN)
