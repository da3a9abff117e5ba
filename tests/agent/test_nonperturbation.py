"""The law: stopping at every line and reading everything leaves the program exactly as a plain run leaves it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest

pytest.importorskip("torch")

from tests.support.marks import one_in
from tests.support.nonperturbation.capture import run
from tests.support.nonperturbation.observers import Everywhere, go_by_instructions, inspect_naively, read_everything
from tests.support.nonperturbation.programs import EXPORT_EXAMPLES, MODELS, OWN, Program, export_example


def compare(make: Callable[[], Program], inspect_stop: Callable[[Everywhere], None]) -> tuple[list[str], Everywhere]:
    """Return what a run with `inspect_stop` at every line changes; the first run of all only warms caches."""
    program = make()
    run(program, contextlib.nullcontext())
    plain = run(program, contextlib.nullcontext())
    session = Everywhere(inspect_stop)
    with_observer = run(program, session.inspecting())
    return plain.differences(with_observer), session


def assert_unperturbed(make: Callable[[], Program]) -> None:
    differences, session = compare(make, read_everything)
    assert not session.complaints, session.complaints[:3]
    assert session.stops > 0
    assert differences == []


@pytest.mark.parametrize("name", one_in(6, EXPORT_EXAMPLES))
def test_export_example(name: str) -> None:
    assert_unperturbed(lambda: export_example(name))


@pytest.mark.parametrize("name", one_in(3, sorted(OWN)))
def test_own_program(name: str) -> None:
    assert_unperturbed(OWN[name])


@pytest.mark.parametrize("name", one_in(3, sorted(OWN)))
def test_own_program_by_instructions(name: str) -> None:
    differences, session = compare(OWN[name], go_by_instructions)
    assert not session.complaints, session.complaints[:3]
    assert session.stops > 0
    assert differences == []


@pytest.mark.matrix
@pytest.mark.timeout(900)  # seconds of work become minutes on a machine that others use too
@pytest.mark.parametrize("name", sorted(MODELS))
def test_transformers_model(name: str) -> None:
    pytest.importorskip("transformers")
    assert_unperturbed(MODELS[name])


@pytest.mark.parametrize("name", ["untouched_arguments", "pending_mutations", "closures_and_generators"])
def test_naive_inspector_is_caught(name: str) -> None:
    """The comparison can fail: an inspector that asks variables instead of reading them changes the program."""
    differences, session = compare(OWN[name], inspect_naively)
    assert session.stops > 0
    assert differences
