"""The law holds with breakpoints on nodes, and data breakpoints on every name, at work."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest

pytest.importorskip("torch")

from tests.support.marks import one_in
from tests.support.nonperturbation.capture import run
from tests.support.nonperturbation.programs import EXPORT_EXAMPLES, OWN, Program, export_example
from tests.support.nonperturbation.watchpoints import WatchingSession

DYNAMIC = [name for name in EXPORT_EXAMPLES if "dynamic" in name]
SHAPES = ["static_for_loop", "list_contains", "list_unpack", "tensor_setattr", "model_attr_mutation", "cond_predicate"]
LONG = "dynamic_shape_map"
EXAMPLES = sorted({*DYNAMIC, *(name for name in SHAPES if name in EXPORT_EXAMPLES)} - {LONG})


def assert_unperturbed(make: Callable[[], Program]) -> WatchingSession:
    program = make()
    run(program, contextlib.nullcontext())
    plain = run(program, contextlib.nullcontext())
    session = WatchingSession()
    watched = run(program, session.inspecting())
    assert not session.complaints, session.complaints[:3]
    assert plain.differences(watched) == []
    return session


@pytest.mark.parametrize("name", [pytest.param(LONG, marks=pytest.mark.matrix), *one_in(3, EXAMPLES)])
def test_export_example(name: str) -> None:
    assert_unperturbed(lambda: export_example(name))


@pytest.mark.parametrize("name", one_in(3, sorted(OWN)))
def test_own_program(name: str) -> None:
    session = assert_unperturbed(OWN[name])
    assert session.reasons["function breakpoint"] > 1
    assert session.reasons["data breakpoint"] > 1
