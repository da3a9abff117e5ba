"""Conditions, hit counts, logpoints, function breakpoints; breakpoints that come and go; what is said of each."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
import torch
from dynascope.agent.breakpoints import outlook
from dynascope.agent.breakpoints.kinds.line_breakpoints import LineBreakpoints
from dynascope.agent.breakpoints.traced_functions import TracedFunctions
from dynascope.agent.recorder.recorder import Recorder
from dynascope.facts.in_progress import Board
from dynascope.wire.dap import FunctionBreakpoint, SourceBreakpoint
from dynascope.wire.to_agent import SetBreakpoints
from torch._dynamo import callback

from tests.support.agent.scripted_session import ScriptedSession
from tests.support.fake_dynamo import BesideDebugpy

pytestmark = pytest.mark.second_leg

HERE = Path(__file__)


def loop(x):
    for i in range(6):
        x = x + i
    return x


def calls(x):
    y = loop(x)
    return y * 2


@torch.compiler.disable
def disabled(x):
    return x + 1


def calls_disabled(x):
    return disabled(x * 2)


def breaks_in_a_loop(x):
    for _ in range(2):
        x = x + 1
        torch._dynamo.graph_break()
    return x


def breaks_and_branches(x):
    y = x + 1
    torch._dynamo.graph_break()
    z = y * 2
    if z.sum() > 0:
        return z + 1
    return z + 2


@torch.compiler.disable(recursive=False)
def not_inlined(x):
    return x * 9


def calls_not_inlined(x):
    return not_inlined(x * 2) + 1


def line_of(function, offset):
    code = getattr(function, "_torchdynamo_orig_callable", function).__code__
    return code.co_firstlineno + offset


CACHED = "Compiled already: the breakpoint stops again when Dynamo traces the line again."
NOT_YET = "Not compiled yet: the breakpoint stops when Dynamo traces the line."
BODY = line_of(loop, 2)


def compile_and_run(function=calls, *sizes):
    compiled = torch.compile(function, backend="eager", dynamic=False)
    for size in sizes or (2,):
        compiled(torch.ones(size))


def stops_with(breakpoint, *sizes):
    session = ScriptedSession()
    session.break_at(HERE, breakpoint)
    with session.attached():
        compile_and_run(calls, *sizes)
    return session


@pytest.mark.parametrize(
    ("hit_condition", "values"),
    [("3", ["2"]), (">= 4", ["3", "4", "5"]), ("% 2", ["1", "3", "5"]), ("== 1", ["0"])],
)
def test_hit_conditions_count_within_a_compile(hit_condition, values):
    session = stops_with(SourceBreakpoint(id=1, line=BODY, hit_condition=hit_condition))
    assert [stop.locals["i"] for stop in session.stops] == values


def test_a_condition_is_evaluated_at_compile_time():
    session = stops_with(SourceBreakpoint(id=1, line=BODY, condition="i > 3 and x.shape[0] == 2"), 2, 3)
    assert [stop.locals["i"] for stop in session.stops] == ["4", "5"]


def test_hits_count_when_the_condition_holds():
    session = stops_with(SourceBreakpoint(id=1, line=BODY, condition="i % 2 == 1", hit_condition="2"))
    assert [stop.locals["i"] for stop in session.stops] == ["3"]


def test_a_condition_without_an_answer_stops_and_says_why():
    session = stops_with(SourceBreakpoint(id=1, line=BODY, condition="no_such_name", hit_condition="1"))
    assert len(session.stops) == 1
    assert any("no_such_name" in output.output and output.line == BODY for output in session.outputs)


def test_a_logpoint_writes_and_does_not_stop():
    session = stops_with(SourceBreakpoint(id=1, line=BODY, log_message="i is {i}, {{x}} {x.shape[0]}"))
    assert not session.stops
    assert [output.output for output in session.outputs] == [f"i is {i}, {{x}} 2\n" for i in range(6)]


def test_a_bad_hit_condition_fails_in_words():
    session = ScriptedSession()
    state = session.break_at(HERE, SourceBreakpoint(id=1, line=BODY, hit_condition="often"))[0]
    assert not state.verified
    assert "is not a hit condition" in str(state.message)


@pytest.mark.parametrize("name", ["loop", "test_*_in_*.loop", "lo?p", "calls"])
def test_a_function_breakpoint_stops_at_the_first_line_once_per_call(name):
    session = ScriptedSession()
    session.break_in(name if not name.startswith("test_") else "loop")
    with session.attached():
        compile_and_run()
    function = calls if name == "calls" else loop
    assert [stop.frames[0].line for stop in session.stops] == [line_of(function, 1)]
    assert session.stops[0].message.reason == "function breakpoint"
    assert session.stops[0].message.hit_breakpoint_ids == [100]


def test_a_function_breakpoint_names_a_method_of_torch_that_is_inlined():
    session = ScriptedSession(["next", "stepIn"])
    session.break_in("torch.nn.modules.container.Sequential.forward")
    with session.attached():
        torch.compile(torch.nn.Sequential(torch.nn.ReLU()), backend="eager")(torch.ones(2))
    places = [(Path(stop.frames[0].source.path).name, stop.message.reason) for stop in session.stops]
    assert places == [("container.py", "function breakpoint"), ("container.py", "step"), ("activation.py", "step")]


def test_a_function_breakpoint_has_a_condition():
    session = ScriptedSession()
    session.break_in(FunctionBreakpoint(id=7, name="calls", condition="x.shape[0] == 3"))
    with session.attached():
        compile_and_run(calls, 2, 3)
    assert [stop.locals["x"] for stop in session.stops] == ["f32[3]"]


def test_two_breakpoints_on_a_line_are_one_stop():
    session = ScriptedSession()
    line = line_of(calls, 1)
    session.break_at(HERE, SourceBreakpoint(id=1, line=line), SourceBreakpoint(id=2, line=line))
    session.break_in("calls")
    with session.attached():
        compile_and_run()
    assert [stop.message.hit_breakpoint_ids for stop in session.stops] == [[1, 2, 100]]


def test_a_debugger_that_comes_when_a_compile_has_begun_shows_who_called_it():
    session = ScriptedSession()
    session.break_at(HERE, line_of(calls, 1))
    torch._dynamo.reset()

    def comes(_):
        until_the_end.callback(Recorder(*[lambda *_: None] * 3, Board()).remove)  # which a session brings along
        session.agent.install()

    callback.on_compile_start(comes)
    with contextlib.ExitStack() as until_the_end:
        until_the_end.callback(torch._dynamo.reset)  # forgets the callback, too
        compile_and_run()
        session.agent.uninstall()
    message = session.stops[0].message
    running = [frame.name for frame in message.frames[message.symbolic_frames :]]
    assert "test_a_debugger_that_comes_when_a_compile_has_begun_shows_who_called_it" in running


def test_breakpoints_set_at_a_stop_are_hit_in_the_same_compile():
    session = ScriptedSession()

    def add(session: ScriptedSession) -> None:
        session.at_stop = lambda session: None
        asked = [SourceBreakpoint(id=5, line=BODY), SourceBreakpoint(id=6, line=line_of(calls, 2))]
        session.agent.receive(SetBreakpoints(id=9, path=str(HERE), breakpoints=asked))

    session.at_stop = add
    session.break_at(HERE, line_of(calls, 1))
    with session.attached():
        compile_and_run()
    assert [stop.message.hit_breakpoint_ids for stop in session.stops] == [[1], *[[5]] * 6, [6]]


def test_breakpoints_removed_at_a_stop_stop_no_more():
    session = ScriptedSession()
    session.at_stop = lambda session: session.agent.receive(SetBreakpoints(id=9, path=str(HERE), breakpoints=[]))
    session.break_at(HERE, BODY)
    with session.attached():
        compile_and_run()
    assert len(session.stops) == 1


def test_cached_code_does_not_stop_and_the_breakpoint_says_so():
    session = ScriptedSession()
    session.break_at(HERE, line_of(calls, 1))
    with session.attached():
        compile_and_run(calls, 2, 2, 2)
    assert len(session.stops) == 1
    assert [(state.verified, state.message) for state in session.changes] == [
        (True, "Stopped here: the breakpoint stops again when Dynamo traces the line again."),
        (True, "Compiled already: the breakpoint stops again when Dynamo traces the line again."),
    ]


def test_what_is_said_of_a_logpoint_is_that_it_logs():
    session = ScriptedSession()
    asked = SourceBreakpoint(id=1, line=line_of(calls, 1), log_message="here")
    assert "the breakpoint logs when Dynamo traces the line" in str(session.break_at(HERE, asked)[0].message)
    with session.attached():
        compile_and_run(calls, 2, 2)
    assert not session.stops
    assert [state.message for state in session.changes] == [
        "Compiled already: the breakpoint logs again when Dynamo traces the line again."
    ]


def test_a_disabled_function_is_not_verified_without_debugpy():
    session = ScriptedSession()
    state = session.break_at(HERE, line_of(disabled, 2))[0]
    assert not state.verified
    assert "torch.compiler.disable" in str(state.message)
    with session.attached():
        compile_and_run(calls_disabled)
    assert not session.stops


def test_a_function_that_is_only_not_inlined_is_verified_and_stops():
    session = ScriptedSession()
    state = session.break_at(HERE, line_of(not_inlined, 2))[0]
    assert (state.verified, state.message) == (True, NOT_YET)
    with session.attached():
        compile_and_run(calls_not_inlined)
    assert len(session.stops) == 1


def test_a_breakpoint_that_stops_is_verified_whatever_was_said_of_it(monkeypatch):
    monkeypatch.setattr(outlook, "disabled_because", lambda function: "It is disabled.")
    session = ScriptedSession()
    assert not session.break_at(HERE, line_of(calls, 1))[0].verified
    verified_at_stop = []
    session.at_stop = lambda session: verified_at_stop.extend(state.verified for state in session.changes)
    with session.attached():
        compile_and_run(calls)
    assert verified_at_stop == [True]
    assert session.changes[-1].verified


def test_a_function_breakpoint_that_stops_is_verified():
    session = ScriptedSession()
    assert not session.break_in("calls")[0].verified
    with session.attached():
        compile_and_run(calls)
    assert [state.verified for state in session.changes] == [True]


def test_lines_behind_a_graph_break_are_not_compiled_before_they_are_traced():
    session = ScriptedSession()
    lines = [line_of(breaks_and_branches, offset) for offset in (1, 3, 4, 5, 6)]
    session.break_at(HERE, *lines)
    known = dict.fromkeys(lines, NOT_YET)
    said = []

    def inspect_stop(session: ScriptedSession) -> None:
        known.update((state.line, state.message) for state in session.changes)
        said.append([known[line] == CACHED for line in lines])

    session.at_stop = inspect_stop
    with session.attached():
        compile_and_run(breaks_and_branches, 2, 3)
        inspect_stop(session)
    nothing, first, second, third = [False] * 5, [True] + [False] * 4, [True] * 3 + [False] * 2, [True] * 4 + [False]
    assert said[:4] == [nothing, first, first, second]
    assert said[4:] == [third] * 5  # the recompile takes nothing back; the other branch is never traced


@pytest.mark.parametrize("condition", ["x >", "x = 1", "def", "(", "a\0b"])
def test_a_condition_that_does_not_parse_fails_in_words(condition):
    session = ScriptedSession()
    state = session.break_at(HERE, SourceBreakpoint(id=1, line=BODY, condition=condition))[0]
    assert not state.verified
    assert "is not a Python expression" in str(state.message)
    state = session.break_in(FunctionBreakpoint(id=2, name="calls", condition=condition))[0]
    assert not state.verified


def test_the_compilers_own_code_needs_a_setting_to_stop():
    changes = []
    debugged = LineBreakpoints(BesideDebugpy(), TracedFunctions(), lambda message: None, changes.append)
    asked = [SourceBreakpoint(id=1, line=line_of(torch._dynamo.eval_frame.innermost_fn, 5))]
    (state,), _ = debugged.placed(torch._dynamo.eval_frame.__file__, asked)
    assert not state.verified
    assert '"debugDynamo": true' in str(state.message)
    debugged.compiler_is_debugged = True
    (state,), _ = debugged.placed(torch._dynamo.eval_frame.__file__, asked)
    assert state.verified
    assert "stops when the line runs uncompiled" in str(state.message)


def test_a_skipped_function_loses_its_verification_with_dynamos_reason():
    session = ScriptedSession()
    session.break_at(HERE, line_of(breaks_in_a_loop, 4))
    with session.attached():
        compile_and_run(breaks_in_a_loop)
    assert [(state.verified, "runs as plain Python" in str(state.message)) for state in session.changes][-1:] in (
        [],
        [(False, True)],
    )


def test_code_of_the_module_itself_is_never_traced():
    session = ScriptedSession()
    module_line = next(n for n, text in enumerate(HERE.read_text().splitlines(), 1) if text.startswith("BODY ="))
    state = session.break_at(HERE, module_line)[0]
    assert not state.verified
    assert state.message == ("Dynamo never traces module-level code; without debugpy this line cannot stop.")


def test_a_file_that_dynamo_skips_says_so():
    session = ScriptedSession()
    state = session.break_at(torch._dynamo.eval_frame.__file__, line_of(torch._dynamo.eval_frame.innermost_fn, 5))[0]
    assert not state.verified
    assert "does not trace this file" in str(state.message)


def test_library_code_stops_with_just_my_code():
    session = ScriptedSession(just_my_code=True)
    linear = torch.nn.Linear.forward
    session.break_at(linear.__code__.co_filename, line_of(linear, 1), line_of(linear, 4))
    with session.attached():
        torch.compile(torch.nn.Sequential(torch.nn.Linear(2, 3)), backend="eager")(torch.ones(1, 2))
    assert session.stops[0].frames[0].name == "Linear.forward [0/0]"
    assert session.stops[0].locals["input"] == "f32[1, 2]"


def test_detach_at_a_stop_lets_the_compile_go_on_unhooked():
    session = ScriptedSession()
    session.at_stop = lambda session: session.agent.uninstall()
    session.break_at(HERE, BODY)
    with session.attached():
        compile_and_run()
    assert len(session.stops) == 1


def test_nothing_of_ours_is_left_in_dynamo():
    from torch._dynamo import comptime, convert_frame, output_graph

    def seen() -> list[object]:
        entry = convert_frame.CatchErrorsWrapper.__call__
        graph = output_graph.OutputGraph
        return [graph.push_tx, graph.pop_tx, entry, convert_frame.trace_frame, comptime.builtins]

    before = seen()
    session = ScriptedSession()
    with session.attached():
        assert all(now is not then for now, then in zip(seen(), before, strict=True))
        compile_and_run()
    assert all(now is then for now, then in zip(seen(), before, strict=True))


def test_an_error_of_ours_leaves_the_compile_alone(monkeypatch):
    from dynascope.agent.breakpoints import hits

    session = ScriptedSession()
    session.break_at(HERE, BODY)
    monkeypatch.setattr(hits.Hits, "that_stop", lambda *arguments: 1 / 0)
    torch._dynamo.reset()
    session.agent.install()
    try:
        assert torch.compile(calls, backend="eager")(torch.ones(1)).item() == 32
    finally:
        session.agent.uninstall()
    assert "ZeroDivisionError" in session.outputs[0].output
    assert len(session.outputs) <= 5
