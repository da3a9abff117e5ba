"""Mode `run` leaves its function uncompiled, what inlined it too where it must, and everything as it was afterwards."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from dynascope.wire.dap import SourceBreakpoint
from torch._dynamo.utils import counters

from tests.programs.traced import higher_order
from tests.support.agent.scripted_session import ScriptedSession
from tests.support.marks import PROGRAMS, labels, load, one_in
from tests.support.matrix.beside_debugpy import BesideDebugpy

pytestmark = pytest.mark.second_leg

HIGHER_ORDER = Path(higher_order.__file__)
PATH = PROGRAMS / "traced" / "instructions.py"
LINE = labels(PATH)["double"]
OTHER = PROGRAMS / "traced" / "steps.py"


def graphs(call: Callable[[], object]) -> int:
    before = counters["stats"]["unique_graphs"]
    call()
    return int(counters["stats"]["unique_graphs"] - before)


def run_at(session: ScriptedSession, path: Path = PATH, line: int = LINE) -> None:
    state = session.break_at(path, SourceBreakpoint(id=1, line=line, mode="run"))[0]
    assert state.verified and "left uncompiled" in (state.message or ""), state


@pytest.mark.parametrize("fullgraph", [False, True])
def test_it_comes_and_goes(fullgraph: bool) -> None:
    program = load(PROGRAMS / "traced" / "instructions.py")

    def root(x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        z = program.double(y)
        return z - 1

    session, x = BesideDebugpy(PATH), torch.ones(3)
    with session.attached():
        compiled = torch.compile(root, backend="eager", fullgraph=fullgraph)
        assert graphs(lambda: compiled(x)) == 1
        run_at(session)
        assert graphs(lambda: compiled(x)) == (0 if fullgraph else 2)
        assert torch.equal(compiled(x), root(x))
        assert graphs(lambda: compiled(x)) == 0
        session.break_at(PATH)
        assert graphs(lambda: compiled(x)) == 1
        assert graphs(lambda: compiled(x)) == 0
    assert not session.stops


def test_a_function_that_is_compiled_itself_runs_as_it_is() -> None:
    program = load(PROGRAMS / "traced" / "instructions.py")
    session, x = BesideDebugpy(PATH), torch.ones(3)
    with session.attached():
        compiled = torch.compile(program.double, backend="eager")
        run_at(session)
        assert graphs(lambda: compiled(x)) == 0
        session.break_at(PATH)
        assert graphs(lambda: compiled(x)) == 1


@pytest.mark.second_leg_only
def test_a_generator_and_what_follows_a_graph_break_run_as_they_are() -> None:
    program = load(PROGRAMS / "traced" / "steps.py")
    session, x = BesideDebugpy(PATH), torch.ones(2, 3)
    with session.attached():
        compiled = torch.compile(program.fn, backend="eager")
        assert graphs(lambda: compiled(x)) > 0
        run_at(session, OTHER, labels(OTHER)["last"])
        assert torch.equal(compiled(x), program.fn(x))
        run_at(session, OTHER, labels(OTHER)["pieces_yield"])
        assert graphs(lambda: compiled(x)) > 0
        session.break_at(OTHER)
        assert graphs(lambda: compiled(x)) > 0
        assert graphs(lambda: compiled(x)) == 0


def test_set_amid_the_compile_that_inlines_it() -> None:
    program = load(PROGRAMS / "traced" / "instructions.py")

    def root(x: torch.Tensor) -> torch.Tensor:
        y = program.double(x + 1)
        return y - 1

    session, x = BesideDebugpy(PATH), torch.ones(2, 3)
    session.at_stop = lambda session: run_at(session)
    session.break_at(PATH, LINE)
    with session.attached():
        compiled = torch.compile(root, backend="eager")
        assert torch.equal(compiled(x), root(x))
        assert len(session.stops) == 1
        assert graphs(lambda: compiled(x)) == 2
        assert graphs(lambda: compiled(x)) == 0


BODIES = ["in_cond", "in_nested_cond", "in_while_loop", "in_checkpoint", "in_vmap", "in_grad", "in_function"]


@pytest.mark.second_leg_only
@pytest.mark.parametrize(
    ("name", "fullgraph"), [*one_in(2, itertools.product(BODIES, [False, True])), ("of_resume_function", False)]
)
def test_it_runs_in_the_body_of_a_higher_order_op(name: str, fullgraph: bool) -> None:
    """Dynamo captures such a body as a whole or fails; the function around it runs uncompiled where it would."""
    function, line, x = getattr(higher_order, name), labels(HIGHER_ORDER)["body"], torch.ones(3)
    session = BesideDebugpy(HIGHER_ORDER)
    with session.attached():
        compiled = torch.compile(function, backend="eager", fullgraph=fullgraph)
        run_at(session, HIGHER_ORDER, line)
        for times in (1, 2):
            assert torch.equal(compiled(x), function(x))
            assert len([ran for ran in session.ran if ran.line == line]) == 2 * times
        session.break_at(HIGHER_ORDER)
        ran = len(session.ran)
        assert graphs(lambda: compiled(x)) > 0
        assert len([each for each in session.ran[ran:] if each.line == line]) == 0
        assert graphs(lambda: compiled(x)) == 0


def test_without_debugpy_it_is_refused() -> None:
    state = ScriptedSession().break_at(PATH, SourceBreakpoint(id=1, line=LINE, mode="run"))[0]
    assert not state.verified and state.reason == "failed" and "without debugpy" in (state.message or "")
