"""The law, with conditions, hit counts, logpoints and function breakpoints at work, and with each mode.

`generated` and `backward` change nothing.

Mode `run` leaves functions uncompiled on request: what comes out is the same, what has nothing to do with them is
compiled as ever, and so is everything once the breakpoint is gone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch
from dynascope.agent.program.source_lines import lines_with_code
from dynascope.wire.dap import FunctionBreakpoint, SourceBreakpoint

from tests.support.agent.scripted_session import ScriptedSession
from tests.support.marks import one_in
from tests.support.matrix.beside_debugpy import BesideDebugpy
from tests.support.nonperturbation import programs
from tests.support.nonperturbation.capture import Traces, run
from tests.support.nonperturbation.programs import EXPORT_EXAMPLES, OWN, Program, export_example

PATH = Path(programs.__file__)
INLINING = ["model_attr_mutation", "nested_function", "cond_branch_nested_function", "decorator", "class_method"]
EXAMPLES = [name for name in INLINING if name in EXPORT_EXAMPLES]


def plain_run(program: Program) -> Traces:
    """The first run of all only warms caches."""
    run(program, contextlib.nullcontext())
    return run(program, contextlib.nullcontext())


def lines_of(program: Program) -> tuple[Path, range]:
    function = program.function
    code = (type(function).forward if isinstance(function, torch.nn.Module) else function).__code__
    last = max(line for _, _, line in code.co_lines() if line is not None)
    return Path(code.co_filename), range(code.co_firstlineno + 1, last + 1)


@contextlib.contextmanager
def at_every_line(session: ScriptedSession, program: Program, **more: str) -> Iterator[None]:
    """Such breakpoints at every line of the program's function, its inner functions included."""
    path, lines = lines_of(program)
    known = lines_with_code(str(path))
    assert known is not None
    asked = [
        SourceBreakpoint(id=number, line=line, **more)
        for number, line in enumerate(lines, 1)
        if known.line_for(line) == line
    ]
    states = session.break_at(path, *asked)
    assert states and all(state.verified for state in states), states
    try:
        yield
    finally:
        session.break_at(path)


ASKED: dict[str, dict[str, str]] = {
    "condition": {"condition": "x.shape[0] > 1000 or x.dtype is torch.float64"},
    "condition without an answer": {"condition": "x.sum() > 0"},
    "hit condition": {"hit_condition": "== 1"},
    "logpoint": {"log_message": "{x} {x.shape} {(x * 2).sum()} {[x, x]} {no_such_name}"},
}


@pytest.mark.parametrize("kind", [*ASKED, "function"])
@pytest.mark.parametrize("name", one_in(7, [*sorted(OWN), *EXAMPLES]))
def test_breakpoints_that_ask_change_nothing(name: str, kind: str) -> None:
    program = OWN[name]() if name in OWN else export_example(name)
    plain = plain_run(program)
    session = ScriptedSession()
    if kind == "function":
        session.break_in(FunctionBreakpoint(id=1, name="*", condition="len(str(x)) > 0", hit_condition=">= 1"))
        asking: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
    else:
        asking = at_every_line(session, program, **ASKED[kind])
    with session.attached(), asking:
        watched = run(program, contextlib.nullcontext())
    assert plain.differences(watched) == []
    assert session.stops or session.outputs or kind == "condition"


@pytest.mark.parametrize("mode", ["generated", "backward"])
@pytest.mark.parametrize("name", one_in(7, [*sorted(OWN), *EXAMPLES]))
def test_nothing_changes(name: str, mode: str) -> None:
    program = OWN[name]() if name in OWN else export_example(name)
    plain = plain_run(program)
    session = BesideDebugpy(PATH)
    with session.beside_nobody(), at_every_line(session, program, mode=mode):
        watched = run(program, contextlib.nullcontext())
        if mode == "generated":
            assert session.entries
    assert plain.differences(watched) == []
    assert not session.entries


@pytest.mark.parametrize("name", one_in(7, [*sorted(OWN), *EXAMPLES]))
def test_what_mode_run_leaves_uncompiled_gives_the_same_and_is_compiled_afterwards(name: str) -> None:
    program = OWN[name]() if name in OWN else export_example(name)
    plain = plain_run(program)
    session = BesideDebugpy(PATH)
    with session.beside_nobody():
        with at_every_line(session, program, mode="run"):
            left = run(program, contextlib.nullcontext())
        after = run(program, contextlib.nullcontext())
    assert (left.output, left.random_states) == (plain.output, plain.random_states)
    assert left.graphs != plain.graphs
    assert plain.differences(after) == []


@pytest.mark.parametrize("name", one_in(7, [*sorted(OWN), *EXAMPLES]))
def test_mode_run_leaves_everything_else_compiled_as_ever(name: str) -> None:
    program = OWN[name]() if name in OWN else export_example(name)
    plain = plain_run(program)
    session = BesideDebugpy(PATH)
    other = Program(plain_run, (), {})
    with session.beside_nobody(), at_every_line(session, other, mode="run"):
        watched = run(program, contextlib.nullcontext())
    assert plain.differences(watched) == []
