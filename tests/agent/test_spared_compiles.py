"""How many compiles a remedy is said to spare is counted with the remedy applied."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

pytest.importorskip("torch")

import numpy as np
import torch
from dynascope.explain.over import compiles_less, whether_over
from dynascope.explain.remedies import remedies_of
from dynascope.facts.model import CompileFacts
from dynascope.facts.recompiles.causes import Cause, causes

from tests.support.agent.recording import numbered, recording
from tests.support.marks import one_in

pytestmark = pytest.mark.second_leg


def alone(x: torch.Tensor) -> torch.Tensor:
    return x.sin() + 1


def together(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y


def apart(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x.sum() + y.sum()


def scaled(x: torch.Tensor, n: float) -> torch.Tensor:
    return x * n


def asking(x: torch.Tensor) -> torch.Tensor:
    return x + 1 if x.shape[0] > 6 else x - 1


def padded(x: torch.Tensor, n: int) -> torch.Tensor:
    return torch.cat([x, x.new_zeros(n - x.shape[0])])


def ones(*shapes: Any) -> list[Any]:
    return [torch.ones(shape) for shape in shapes]


def flagged(x: torch.Tensor, n: int | bool) -> torch.Tensor:
    return x + 1 if n is True else x + n


CASES: dict[str, tuple[Callable[..., Any], list[list[Any]], str]] = {
    "a size": (alone, [ones(4), ones(8), ones(12)], "One compile less with `maybe_mark_dynamic`."),
    "sizes that are equal": (together, [ones(4, 4), ones(8, 8)], "One compile less with `maybe_mark_dynamic`."),
    "sizes that are not": (
        apart,
        [ones(4, 6), ones(8, 6), ones(8, 9)],
        "Two compiles less in all with `maybe_mark_dynamic`.",
    ),
    "dimensions of one": (
        alone,
        [ones((4, 5)), ones((6, 5)), ones((6, 7))],
        "Two compiles less in all with `maybe_mark_dynamic`.",
    ),
    "equal once": (apart, [ones(4, 4), ones(8, 5)], "One compile less with `maybe_mark_dynamic`."),
    "a square": (alone, [ones((4, 4)), ones((6, 4))], "One compile less with `maybe_mark_dynamic`."),
    "a size of 1": (alone, [ones(1), ones(8), ones(12)], ""),
    "a size that is asked for": (asking, [ones(4), ones(8)], ""),
    "a size that is asked for later": (
        asking,
        [ones(4), ones(5), ones(8)],
        "One compile less with `maybe_mark_dynamic`.",
    ),
    "a size and a dtype": (alone, [ones(4), [torch.ones(8).double()], [torch.ones(12).double()]], ""),
    "an int": (scaled, [[torch.ones(2), 3], [torch.ones(2), 5]], "One compile less with `dynamic=True`."),
    "an int that was 0": (scaled, [[torch.ones(2), 0], [torch.ones(2), 1]], "One compile less with `dynamic=True`."),
    "a float": (scaled, [[torch.ones(2), 0.5], [torch.ones(2), 0.7]], "One compile less with `dynamic=True`."),
    "an int, then a float": (scaled, [[torch.ones(2), 3], [torch.ones(2), 0.5], [torch.ones(2), 0.7]], ""),
    "an array": (scaled, [[np.ones(4), 0.5], [np.ones(8), 0.5]], "One compile less with `dynamic=True`."),
    "a size and an int": (padded, [[torch.ones(4), 9], [torch.ones(6), 12]], "One compile less with `dynamic=True`."),
}


@pytest.fixture(autouse=True)
def the_limit_of_torch() -> Iterator[None]:
    with torch._dynamo.config.patch(recompile_limit=8):
        yield


def causes_in(facts: list[CompileFacts]) -> list[Cause]:
    by_number, entries = numbered(facts)
    compiles = {number: each.compile for number, each in by_number.items()}
    return [each for each in causes(entries, compiles, by_number.get) if each.caused]


def compiles(
    function: Callable[..., Any], calls: Iterable[list[Any]], dynamic: bool | None = None, marks: Iterable[str] = ()
) -> list[CompileFacts]:
    """Call a function compiled anew; `marks`: `x.size()[0]`."""
    torch._dynamo.reset()
    compiled, names = torch.compile(function, backend="eager", dynamic=dynamic), function.__code__.co_varnames
    with recording() as facts:
        for arguments in calls:
            given = [each.clone() if isinstance(each, torch.Tensor) else each for each in arguments]
            for mark in marks:
                name, _, dimension = mark.partition(".size()")
                torch._dynamo.maybe_mark_dynamic(given[names.index(name)], int(dimension.strip("[]")))
            compiled(*given)
    return facts


def test_a_boolean_is_no_number() -> None:
    calls = [[torch.ones(4), n] for n in (True, 1, 2, False)]
    plain = compiles(flagged, calls)
    assert len(plain) - len(compiles(flagged, calls, dynamic=True)) == 1
    found = causes_in(plain)
    assert {compiles_less(each) for each in found} == {"", "One compile less with `dynamic=True`."}
    assert not any(whether_over(each).startswith("There is a compile for either") for each in found)


@pytest.mark.parametrize("name", one_in(2, CASES))
def test_as_many_are_spared_as_is_said(name: str) -> None:
    function, calls, says = CASES[name]
    plain = compiles(function, calls)
    for cause in causes_in(plain):
        assert compiles_less(cause) == says
        spared = cause.known.spared
        assert spared is not None or not says
        if "mark" in says and spared is not None:
            assert len(plain) - len(compiles(function, calls, marks=spared.marks)) == spared.by_marks
        if spared is not None and (spared.by_dynamic or "dynamic" in says):
            assert len(plain) - len(compiles(function, calls, dynamic=True)) == spared.by_dynamic


@pytest.mark.parametrize(
    ("name", "says", "alternative"),
    [
        ("a size", "Before the call: `torch._dynamo.maybe_mark_dynamic(x, 0)`; or", "or compile with `dynamic=True`."),
        ("a square", "Before the call: `torch._dynamo.maybe_mark_dynamic(x, 0)`.", "`dynamic=True` may spare less"),
        ("sizes that are not", "Others have changed, too: `y.size()[0]`. Before the call: ", "or compile with `dyn"),
    ],
)
def test_the_remedy_that_spares_more_is_advised(name: str, says: str, alternative: str) -> None:
    (hint,) = remedies_of(causes_in(compiles(*CASES[name][:2]))[0])
    assert hint.startswith(says) and alternative in hint


@pytest.mark.parametrize("name", ["sizes that are equal", "sizes that are not", "dimensions of one"])
def test_with_dynamic_false_the_remedy_has_all_sizes_that_changed_in_these_calls(name: str) -> None:
    function, calls, _ = CASES[name]
    plain = compiles(function, calls, dynamic=False)
    causes = causes_in(plain)
    assert sum(len(cause.compiles) for cause in causes) == len(plain) - 1
    for cause in causes:
        (hint,) = remedies_of(cause)
        marks = [f"{each}.size()[{dimension}]" for each, dimension in re.findall(r"dynamic\((\w+), (\d)\)", hint)]
        with_remedy = compiles(function, calls, dynamic=False, marks=marks)
        assert len(plain) - len(with_remedy) == len(cause.compiles), hint
