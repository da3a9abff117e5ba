"""The law, back and forth: each place seen again is as it was, and the compile leaves what a plain run leaves."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest

pytest.importorskip("torch")

from tests.support.marks import one_in
from tests.support.nonperturbation.capture import run
from tests.support.nonperturbation.programs import EXPORT_EXAMPLES, MODELS, OWN, Program, export_example
from tests.support.nonperturbation.time_traveller import FromEveryStop, TimeTraveller

SEEDS = 12
"""How often a program is compiled at most; a walk ends where it leaves the compile."""
Walk = Callable[..., int]


@pytest.fixture(params=[50, pytest.param(400, marks=pytest.mark.matrix)])
def walk(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> Walk:
    """Return a function that walks through a program; what it did is summed up after the tests."""

    def walks(make: Callable[[], Program], moves: int | None = None) -> int:
        moves = moves or int(request.param)
        left, back = walk_through(make, moves)
        record_property("moves", (moves - left, back))
        return back

    return walks


def walk_through(make: Callable[[], Program], moves: int) -> tuple[int, int]:
    """Make so many moves in compiles of this program; return how many are left and how many led back."""
    program, left, back = make(), moves, 0
    run(program, contextlib.nullcontext())  # warms caches
    plain = run(program, contextlib.nullcontext())
    for seed in range(SEEDS):
        traveller = TimeTraveller(left, seed)
        traced = run(program, traveller.inspecting())
        if plain.differences(traced) == ["guards"]:  # in its fifth run bert itself has its guards in another order
            plain = run(program, contextlib.nullcontext())
        differences = plain.differences(traced)
        assert not traveller.mismatches, (seed, traveller.mismatches[:3])
        assert not traveller.complaints, (seed, traveller.complaints[:3])
        assert differences == [], seed
        left, back = traveller.moves_left, back + traveller.went_back
        if not left:
            break
    return left, back


@pytest.mark.parametrize("name", one_in(6, EXPORT_EXAMPLES))
def test_export_example(name: str, walk: Walk) -> None:
    walk(lambda: export_example(name))


@pytest.mark.parametrize("name", one_in(3, sorted(OWN)))
def test_own_program(name: str, walk: Walk) -> None:
    assert walk(OWN[name]) > 3


@pytest.mark.parametrize("name", one_in(6, sorted(OWN)))
def test_back_from_every_kind_of_stop(name: str) -> None:
    program = OWN[name]()
    run(program, contextlib.nullcontext())
    plain = run(program, contextlib.nullcontext())
    traveller = FromEveryStop(moves=60)
    assert plain.differences(run(program, traveller.inspecting())) == []
    assert not traveller.complaints, traveller.complaints[:3]
    assert traveller.went_back


@pytest.mark.matrix
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", sorted(MODELS))
def test_transformers_model(name: str, walk: Walk) -> None:
    pytest.importorskip("transformers")
    assert walk(MODELS[name]) > 10
