"""Changes that are tried at a stop, kept and undone: what is told, and what the program then compiles."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from dynascope.agent.tracing.what_if.asked import advised
from dynascope.wire.messages import ResumeCommand, TravelCommand

from tests.support.agent.scripted_session import ScriptedSession
from tests.support.marks import PROGRAMS, labels, load

pytestmark = pytest.mark.second_leg

PATH = PROGRAMS / "traced" / "what_if.py"
LABELS = labels(PATH)
NAMES = {line: label for label, line in LABELS.items()}
NOT_KEPT = "Nothing is changed. To compile with this change: what if keep"


def compile_with(
    at: str,
    main: str,
    at_stop: Callable[[ScriptedSession, int], None],
    *commands: ResumeCommand | TravelCommand,
) -> tuple[types.ModuleType, Any, list[str]]:
    """Call `at_stop` with the number of each stop; return the program, its result, and where it stopped."""
    session = ScriptedSession(commands)
    if at:
        session.break_at(PATH, LABELS[at])
    else:
        session.catch("graphBreak")
    session.at_stop = lambda session: at_stop(session, len(session.stops))
    program = load(PATH)
    with session.attached():
        result = getattr(program, main)()
    return program, result, [NAMES[stop.frames[0].line] for stop in session.stops]


def answers(at: str, main: str, *questions: str, frame: int = 0) -> list[str]:
    """Return what is told at the first stop; the program compiles without the change."""
    told: list[str] = []

    def ask(session: ScriptedSession, number: int) -> None:
        if number == 1:
            told.extend(session.type(f"what if {question}", frame) for question in questions)

    program, result, _ = compile_with(at, main, ask)
    plain = load(PATH)
    assert str(getattr(plain, main)()) == str(result) and plain.graphs == program.graphs
    return told


def keeping(question: str) -> Callable[[ScriptedSession, int], None]:
    def keep(session: ScriptedSession, number: int) -> None:
        if number == 1:
            assert NOT_KEPT in session.type(f"what if {question}")
            assert f"with the change: {question}" in session.type("what if keep")

    return keep


def test_a_size_is_dynamic() -> None:
    (told,) = answers("flag", "main_once", "x.shape[0] is dynamic")
    assert "+ s77 (x.size()[0]) in [4, oo]" in told and "+ s77 > 3" in told
    assert "s27" not in told and told.endswith(NOT_KEPT)


def test_every_size_is_dynamic_and_a_number() -> None:
    sizes, number = answers("flag", "main_once", "x dynamic", "n dynamic?")
    assert "x.size()[0]" in sizes and "x.size()[1]" in sizes
    assert "(n)" in number and "− CONSTANT_MATCH n" in number


def test_sizes_and_numbers_are_static() -> None:
    size, sizes, number = answers("flag", "main_dynamic", "x.size(0) static", "x static", "n constant")
    assert "replaced by 4" in size and "replaced by 3" not in size and "+ Eq(s77, 4)" in size
    assert "replaced by 4" in sizes and "replaced by 3" in sizes
    assert "− mul_1 = c * l_n_\n  + mul_1 = c * 7" in number


def test_a_size_of_what_is_computed_is_static() -> None:
    (told,) = answers("flag", "main_dynamic", "b.shape[1] static")
    assert "+ Eq(s27, 3)" in told


def test_a_local_has_another_value_from_here_on() -> None:
    number, flag = answers("flag", "main_flag", "n = 8", "flag = False")
    assert "without the change" not in number.partition("Operations")[0]
    # the graph ends before `c * n`, so nothing of it changes
    assert number.startswith("Nothing changes")
    assert flag.startswith("Graph break: no graph break; without the change: Failed to trace")
    assert "Graphs: 1 graph with 6 operations; without the change: 1 graph with 4 operations." in flag


def test_a_local_of_a_caller() -> None:
    (told,) = answers("inlined_last", "main_once", "n = 8", frame=1)
    assert "− mul_1 = c * 7\n  + mul_1 = c * 8" in told and "a * 8" not in told


def test_a_local_of_the_forward_of_an_autograd_function() -> None:
    for told in answers("in_forward", "main_applied", "k = 8", "k = 9"):
        assert "l_x_ * 4" in told and told.endswith(NOT_KEPT)


@pytest.mark.parametrize("question", ["why", "what if n = 8"])
def test_the_backend_is_called_as_the_trace_began(question: str) -> None:
    """Where gradients are off at the stop, too."""
    enabled: list[bool] = []

    def backend(graph: Any, _inputs: Any) -> Any:
        enabled.append(torch.is_grad_enabled())
        return graph.forward

    session = ScriptedSession()
    session.break_at(PATH, LABELS["in_with"])
    session.at_stop = lambda session: session.type(question)
    program = load(PATH)
    program.backend = backend
    with session.attached():
        program.main_ending()
    assert len(session.stops) == 1 and enabled == [True]


@pytest.mark.parametrize(("at", "operations"), [("flag", 4), ("inlined_last", 1)])
def test_a_graph_break_here(at: str, operations: int) -> None:
    (told,) = answers(at, "main_once", "graph break")
    assert told.startswith("Graph break: ") and "without the change: no graph break." in told
    ends = "operation" if operations == 1 else "operations"
    assert f"Graphs: 1 graph with {operations} {ends}; without the change: 1 graph with 6 operations." in told


def test_a_graph_break_before_anything_is_in_the_graph() -> None:
    (told,) = answers("first", "main_once", "graph break")
    assert f"Asked for with `what if` (what_if.py:{LABELS['first']})" in told and "Graphs: none" in told


def test_a_graph_break_is_about_the_selected_frame() -> None:
    with torch._dynamo.config.patch(nested_graph_breaks=True):
        in_function, at_call = (answers("inlined_last", "main_once", "graph break", frame=frame)[0] for frame in (0, 1))
    assert "Graphs: 1 graph with 2 operations" in in_function and f"what_if.py:{LABELS['inlined_last']})" in in_function
    assert "Graphs: 1 graph with 1 operation;" in at_call and f"what_if.py:{LABELS['call']})" in at_call


def test_a_graph_break_in_a_function_that_is_inlined_tells_the_call_at_which_the_graph_ends() -> None:
    (told,) = answers("inlined_last", "main_once", "graph break")
    assert f"what_if.py:{LABELS['inlined_last']}), so the graph ends at the call in what_if.py:{LABELS['call']}" in told


def test_a_graph_break_gone_has_its_name() -> None:
    (told,) = answers("viewing", "main_viewing", "flag = False")
    line = LABELS["jump"]
    assert told.startswith(
        f"Graph break: no graph break; without the change: Data-dependent branching (what_if.py:{line})."
    )


def test_an_error_of_the_compile_is_no_graph_break() -> None:
    told, first = answers("viewing", "main_viewing_straight", "rows = 5", "keep")
    assert told.startswith("Error: the compile fails with TorchRuntimeError: ")
    assert "the compile fails with TorchRuntimeError" in first and "Ask again" in first


@pytest.mark.parametrize(
    ("message", "settings"),
    [
        ("Set `torch._dynamo.config.capture_scalar_outputs = True` or", [("capture_scalar_outputs", True)]),
        ("Set `torch._dynamo.config.trace_numpy` to `True`.", [("trace_numpy", True)]),
        ("Set torch._dynamo.config.allow_rnn=True to enable", [("allow_rnn", True)]),
        ("Change `torch._dynamo.config.use_numpy_random_stream` to False.", [("use_numpy_random_stream", False)]),
        ("`torch._dynamo.config.trace_numpy` set to `False`", [("trace_numpy", False)]),
        ("Set `torch._dynamo.config.recompile_limit` to an appropriate value.", []),
        ("See torch._dynamo.config.ignore_logging_functions.", []),
    ],
)
def test_the_settings_that_a_message_names(message: str, settings: list[tuple[str, Any]]) -> None:
    assert advised(message) == settings


def test_a_setting_and_the_hint_of_a_graph_break() -> None:
    hint, setting = answers("", "main_reading", "hint", "config.capture_scalar_outputs = True")
    assert hint == setting and hint.startswith(
        "Graph break: no graph break; without the change: Unsupported Tensor.item"
    )
    assert "Graphs: 1 graph with 4 operations; without the change: 1 graph with 2 operations." in hint


def test_nothing_changes() -> None:
    assert answers("flag", "main_once", "n = 7") == [
        f"Nothing changes: the same graphs, guards and symbols, the same end.\n{NOT_KEPT}"
    ]


@pytest.mark.parametrize(
    ("at", "main", "question", "reason"),
    [
        ("flag", "main_once", "b dynamic", "only inputs"),
        ("flag", "main_once", "x.shape[2] dynamic", "has 2 dimensions, counted from 0"),
        ("flag", "main_once", "x.shape[0] static", "static already"),
        ("flag", "main_once", "n constant", "constant already"),
        ("flag", "main_once", "flag dynamic", "Only an int and the sizes"),
        ("flag", "main_once", "nobody dynamic", "no local variable `nobody`"),
        ("flag", "main_once", "n = x.sum()", "Only a number"),
        ("flag", "main_once", "x.shape[0] = 3", "dynamic or static"),
        ("flag", "main_once", "x.T.y dynamic", "Name a local variable"),
        ("flag", "main_once", "config.no_such_thing = 1", "has no setting `no_such_thing`"),
        ("flag", "main_once", "hint", "No hint at this stop"),
        ("flag", "main_once", "keep", "Nothing has been tried"),
        ("flag", "main_once", "undo", "No change is kept"),
        ("flag", "main_once", "something else", "what if graph break"),
        ("shared", "main_shared", "n = 2", "shared with a nested function"),
    ],
)
def test_what_cannot_be_tried_is_refused_with_the_reason(at: str, main: str, question: str, reason: str) -> None:
    (told,) = answers(at, main, question)
    assert reason in told and "without the change" not in told


def test_the_list_of_changes_and_of_those_kept() -> None:
    told: list[str] = []

    def ask(session: ScriptedSession, number: int) -> None:
        if number == 1:
            keeping("n = 8")(session, number)
            told.append(session.type("what if"))

    compile_with("flag", "main_once", ask)
    assert told[0].startswith(f"kept: n = 8 (fn, what_if.py:{LABELS['flag']})\nwhat if x.shape[0] dynamic")


def test_what_cannot_be_undone_is_said_before(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = answers("prints_first", "main_printing", "graph break", "graph break")
    assert "the functions given to `comptime` would run, and print" in first and "Ask again" in first
    assert second.endswith(NOT_KEPT)


def test_a_change_kept_is_made_in_this_compile() -> None:
    program, result, places = compile_with("flag", "main", keeping("x.shape[0] dynamic"))
    assert program.graphs == [(6, True)], "the second call has another size and needs no compile"
    assert places == ["flag"], "a change that is kept does not stop again where the user has been"
    assert result == load(PATH).main()


def test_a_change_kept_and_steps_on() -> None:
    program, _, places = compile_with("branch", "main_once", keeping("x.shape[0] dynamic"), "next", "next")
    assert program.graphs == [(6, True)]
    assert places == ["branch", "taken", "flag"]


def test_a_graph_break_kept_in_a_function_that_was_inlined() -> None:
    program, result, places = compile_with("inlined_last", "main_once", keeping("graph break"))
    assert program.graphs == [(1, False), (2, False), (3, False)]
    assert places == ["inlined_last", "inlined_last"], "the function is now compiled by itself"
    assert result == load(PATH).main_once()


def test_a_value_kept() -> None:
    program, result, _ = compile_with("flag", "main_once", keeping("n = 8"))
    assert program.graphs == [(6, False)] and result.item() == pytest.approx(load(PATH).main_once().item() * 8 / 7)


def test_changes_kept_add_up() -> None:
    def keep_two(session: ScriptedSession, number: int) -> None:
        keeping("n = 8")(session, number)
        if number == 1:
            told = session.type("what if flag = True")
            assert "c * 7" not in told
            session.type("what if keep")

    program, _, _ = compile_with("flag", "main_once", keep_two)
    assert [nodes for nodes, _ in program.graphs] == [4, 2]


def test_back_and_forth_with_a_change_kept() -> None:
    seen = []

    def ask(session: ScriptedSession, number: int) -> None:
        keeping("n = 8")(session, number)
        seen.append(session.type("n"))

    commands: Sequence[ResumeCommand | TravelCommand] = ["next", "stepBack", "stepBack"]
    _, _, places = compile_with("flag", "main_once", ask, *commands)
    assert places == ["flag", "after_flag", "flag", "taken"]
    assert seen == ["7", "8", "7", "7"], "the value is another one once the line is traced"


@pytest.mark.parametrize("stops", [1, 2])
def test_undo(stops: int) -> None:
    def undo(session: ScriptedSession, number: int) -> None:
        keeping("n = 8")(session, number)
        if number == stops:
            assert session.type("what if undo") == f"No longer kept: n = 8 (fn, what_if.py:{LABELS['call']})."

    _, result, places = compile_with("call", "main_once", undo, "next" if stops == 2 else "continue")
    assert len(places) == stops and result == load(PATH).main_once()


def test_a_change_ends_with_its_compile() -> None:
    import torch

    before = torch._dynamo.config.capture_scalar_outputs
    program, _, _ = compile_with("", "main_reading", keeping("config.capture_scalar_outputs = True"))
    assert program.graphs == [(4, False)] and torch._dynamo.config.capture_scalar_outputs is before


@pytest.mark.parametrize(
    ("at", "really"), [("no_call", "main_really_broken"), ("in_with", "main_really_broken_in_with")]
)
def test_a_graph_break_kept_is_what_a_real_one_is(at: str, really: str) -> None:
    program, result, _ = compile_with(at, "main_ending", keeping("graph break"))
    real = load(PATH)
    assert result == getattr(real, really)() and program.graphs == real.graphs
    assert len(program.graphs) == 2


def test_that_a_function_is_never_compiled_again_is_said_before_a_change_is_kept() -> None:
    told: list[str] = []

    def keep(session: ScriptedSession, number: int) -> None:
        told.extend(session.type(f"what if {question}") for question in ("graph break", "keep", "keep"))

    program, _, _ = compile_with("in_try", "main_trying", keep)
    assert "Graph break: the whole function runs uncompiled (" in told[0]
    assert "never compiles it again" in told[1] and "Ask again" in told[1]
    assert "traced again from its start" in told[2] and program.graphs == []


def test_changes_kept_in_two_frames_are_named() -> None:
    told: list[str] = []

    def keep(session: ScriptedSession, number: int) -> None:
        for frame in (1, 0):
            told.append(session.type("what if n = 8", frame))
            session.type("what if keep", frame)
        told.append(session.type("what if"))

    compile_with("inlined", "main_once", keep)
    assert told[0].endswith(NOT_KEPT)
    assert told[1].endswith("compiles with what is kept. To make this change, too: what if keep")
    lines = LABELS["call"], LABELS["inlined"]
    assert told[2].startswith(f"kept: n = 8 (fn, what_if.py:{lines[0]})\nkept: n = 8 (scaled, what_if.py:{lines[1]})\n")
