"""Each recompile says whether another value is compiled again: checked by calling with one, and counting compiles."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from dynascope.explain import over
from dynascope.explain.over import whether_over
from dynascope.explain.problem import Identities
from dynascope.explain.recompiles import recompiles
from dynascope.explain.remedies import GROWS
from dynascope.facts.model import CompileFacts
from dynascope.facts.recompiles.causes import Cause, causes
from dynascope.facts.recompiles.relations import numbers_served

from tests.support.agent.recording import numbered, recording

pytestmark = pytest.mark.second_leg
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="Inductor needs a C++ compiler")


def plain(x: torch.Tensor) -> torch.Tensor:
    return x.sin() + 1


def asks(x: torch.Tensor) -> torch.Tensor:
    return x + 1 if x.shape[0] > 6 else x - 1


def folds(x: torch.Tensor) -> torch.Tensor:
    return x.reshape(-1, 4).sum(0)


def loops(x: torch.Tensor, n: int) -> torch.Tensor:
    for _ in range(n):
        x = x + 1
    return x


def scales(x: torch.Tensor, n: int) -> torch.Tensor:
    return x * n


def both(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y


def flagged(x: torch.Tensor, flag: bool) -> torch.Tensor:
    return x + 1 if flag else x


def ones(*sizes: int) -> list[torch.Tensor]:
    return [torch.ones(size) for size in sizes]


def slices(x: torch.Tensor, last: int) -> torch.Tensor:
    x[last] = 2.0
    return x[: last + 1].softmax(0) @ x[: last + 1]


CASES = [
    pytest.param(plain, "inductor", None, [ones(4), ones(8), ones(12)], ones(20), "It is over: ", marks=needs_compiler),
    (plain, "eager", None, [ones(4), ones(8)], ones(20), "It is over: "),
    (plain, "eager", None, [ones(4), ones(1)], ones(20), "It is not over: compile 0/1"),
    (plain, "eager", False, [ones(4), ones(8), ones(12)], ones(20), "It is not over: compile 0/2"),
    (asks, "eager", None, [ones(4), ones(8)], ones(5), "It is not over: compile 0/1 fits "),
    (asks, "eager", None, [ones(14), ones(8)], ones(20), "It is over: "),
    (folds, "eager", None, [ones(8), ones(12)], ones(16), "It is over: "),
    (both, "eager", None, [ones(4, 4), ones(8, 8)], ones(20, 20), "It is over: "),
    (scales, "eager", None, [[torch.ones(2), 3], [torch.ones(2), 5]], [torch.ones(2), 0], "It is over: "),
    (scales, "eager", None, [[torch.ones(2), 1], [torch.ones(2), 0]], [torch.ones(2), 9], "It is over: "),
    (asks, "eager", True, [ones(14), ones(5)], ones(3), "It is over: compile 0/0 fits "),  # one compile for each answer
    (scales, "eager", None, [[torch.ones(2), 0.5], [torch.ones(2), 0.7]], [torch.ones(2), 0.1], "It is over: "),
    (
        slices,
        "eager",
        None,
        [[torch.ones(16), 0], [torch.ones(16), 1]],
        [torch.ones(16), 11],
        "It is over from 0 to 15: ",
    ),
    (loops, "eager", None, [[torch.ones(2), 2], [torch.ones(2), 3]], [torch.ones(2), 4], "It is not over: compile 0/1"),
]


@pytest.fixture(autouse=True)
def the_limit_of_torch() -> Iterator[None]:
    with torch._dynamo.config.patch(recompile_limit=8):
        yield


def cause_of(facts: Iterable[CompileFacts]) -> Cause:
    """Return the cause of the recompiles in facts, of which there is one."""
    by_number, entries = numbered(facts)
    (found,) = [
        each
        for each in causes(entries, {n: each.compile for n, each in by_number.items()}, by_number.get)
        if each.caused
    ]
    return found


@pytest.mark.parametrize(("function", "backend", "dynamic", "calls", "another", "says"), CASES)
def test_another_value_is_compiled_again_where_that_is_said(
    function: Callable[..., Any],
    backend: str,
    dynamic: bool | None,
    calls: list[list[Any]],
    another: list[Any],
    says: str,
) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(function, backend=backend, dynamic=dynamic)
    with recording() as facts:
        for arguments in calls:
            compiled(*arguments)
        before = len(facts)
        told = whether_over(cause_of(facts))
        compiled(*another)
    assert told.startswith(says), told
    assert (len(facts) > before) == (not told.startswith("It is over")), told


@pytest.mark.parametrize(
    ("function", "calls", "says"),
    [
        (flagged, [[torch.ones(2), True], [torch.ones(2), False]], "There is a compile for either value."),
        (
            plain,
            [[torch.ones(2)], [torch.ones(2).double()]],
            "Each value that was met has a compile of its own; a call with another value is compiled again.",
        ),
    ],
)
def test_of_other_values_no_more_is_said_than_is_known(
    function: Callable[..., Any], calls: list[list[Any]], says: str
) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="eager")
    with recording() as facts:
        for arguments in calls:
            compiled(*arguments)
    assert whether_over(cause_of(facts)) == says


class Counting(torch.nn.Module):
    calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return x * 2


def test_nothing_is_over_while_each_call_changes_what_is_guarded() -> None:
    torch._dynamo.reset()
    module = Counting()
    module.calls = 0
    compiled = torch.compile(module, backend="eager")
    with recording() as facts:
        for size in (4, 6, 8, 8):
            compiled(torch.ones(size))
    assert len(facts) == 4
    by_number, entries = numbered(facts)
    compiles = {number: each.compile for number, each in by_number.items()}
    varying = [guard for each in facts for guard in each.varying_guards]
    found = causes(entries, compiles, by_number.get)
    told = [each for each in recompiles(found, compiles, Identities(lambda _: []), varying) if each.compiles]
    assert [each.cause for each in told] == ["self.calls"]
    assert told[0].details[0].startswith("It is not over: ")
    assert not any("compile less" in text for text in told[0].details)


def test_the_bounds_and_conditions_are_told() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(folds, backend="eager")
    with recording() as facts:
        for size in (8, 12):
            compiled(torch.ones(size))
    told = whether_over(cause_of(facts))
    assert told == "It is over: compile 0/1 fits any size of 2 or more where `x.size()[0] % 4 == 0` (`s77`).", told


def test_few_numbers_are_asked_about_however_large_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def counted(
        value: str, conditions: Iterable[str], numbers: set[float], others: Mapping[str, float]
    ) -> set[float] | None:
        asked.append(len(numbers))
        return numbers_served(value, conditions, numbers, others)

    monkeypatch.setattr(over, "numbers_served", counted)
    torch._dynamo.reset()
    compiled = torch.compile(scales, backend="eager")
    with recording() as facts:
        for number in (3_000_000, 5_000_000):
            compiled(torch.ones(2), number)
    assert whether_over(cause_of(facts)).startswith("It is over: ")
    assert asked and max(asked) < 10_000


class Collecting(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.kept: list[torch.Tensor] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.kept.append(x.mean())
        return x * 2


def test_a_list_to_which_the_call_appends_is_said_to_grow() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(Collecting(), backend="eager")
    with recording() as facts:
        for _ in range(3):
            compiled(torch.ones(4))
    by_number, entries = numbered(facts)
    compiles = {number: each.compile for number, each in by_number.items()}
    varying = [guard for each in facts for guard in each.varying_guards]
    found = causes(entries, compiles, by_number.get)
    (told,) = (each for each in recompiles(found, compiles, Identities(lambda _: []), varying) if each.compiles)
    assert (
        told.remedies == [GROWS] and told.effect is not None and told.effect.startswith("made for length 0, met 1, 2")
    )
