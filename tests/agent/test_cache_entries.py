"""The guards of compiled code: they are torch's own tree, and measuring and checking them changes nothing."""

from __future__ import annotations

import contextlib
import re
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from dynascope.agent.documents import guard_trees
from dynascope.agent.internals.guards import tree
from dynascope.agent.internals.guards.costs import check, measure
from torch._dynamo import guards

from tests.support.marks import one_in
from tests.support.nonperturbation.capture import run
from tests.support.nonperturbation.programs import EXPORT_EXAMPLES, MODELS, OWN, Program, export_example


class Looking:
    """Compares the guards with torch's text after each compile, checks and measures them for the compiled values."""

    def __init__(self) -> None:
        self.complaints: list[str] = []
        self.looked = self.measured = 0

    @contextlib.contextmanager
    def after_each_compile(self) -> Iterator[None]:
        original = guards.CheckFunctionManager.__init__

        def init(manager: Any, f_code: Any, output_graph: Any, *args: Any, **kwargs: Any) -> None:
            original(manager, f_code, output_graph, *args, **kwargs)
            self._look(manager.guard_manager, dict(output_graph.local_scope), output_graph)

        guards.CheckFunctionManager.__init__ = init  # type: ignore[method-assign]
        try:
            yield
        finally:
            guards.CheckFunctionManager.__init__ = original  # type: ignore[method-assign]

    def _look(self, manager: Any, values: dict[str, Any], output: Any) -> None:
        text = str(manager)
        ours = "".join(f"{line}\n" for line in tree.lines(manager))
        if f"\nTREE_GUARD_MANAGER:\n{ours}" != text:
            self.complaints.append(f"not torch's tree:\n{ours}\n{text}")
        self.looked += 1
        if check(manager, values).failed is not None:
            return
        costs = measure(manager, values)
        if costs is None or not 0 < costs.lookup < 1e9 or min(costs.own.values()) < 0:
            self.complaints.append(f"not measured: {costs}")
        elif abs(sum(costs.own.values()) + costs.last - costs.lookup) > 0.2 * costs.lookup:
            self.complaints.append(f"{costs.lookup} is not the sum")
        self.measured += 1
        if str(manager) != text or any(each.fail_count() for each in tree.evaluated(manager.root)):
            self.complaints.append("the guards have changed")


def look_at(program: Program) -> Looking:
    """Return what was found; the program must leave what it leaves when nobody looks."""
    looking = Looking()
    run(program, contextlib.nullcontext())  # warms caches
    plain = run(program, contextlib.nullcontext())
    looked = run(program, looking.after_each_compile())
    if plain.differences(looked):  # in its fifth run bert itself has its guards in another order
        plain = run(program, contextlib.nullcontext())
    assert plain.differences(looked) == []
    assert not looking.complaints, looking.complaints[0]
    return looking


@pytest.mark.parametrize("name", one_in(6, EXPORT_EXAMPLES))
def test_export_example(name: str) -> None:
    look_at(export_example(name))


@pytest.mark.parametrize("name", one_in(3, sorted(OWN)))
def test_own_program(name: str) -> None:
    looking = look_at(OWN[name]())
    assert looking.looked and looking.measured


@pytest.mark.matrix
@pytest.mark.timeout(900)  # seconds of work become minutes on a machine that others use too
@pytest.mark.parametrize("name", sorted(MODELS))
def test_transformers_model(name: str) -> None:
    pytest.importorskip("transformers")
    assert look_at(MODELS[name]()).measured


def compiled(function: Any, *arguments: Any) -> Any:
    """Return the one cache entry of a function that is compiled with these arguments."""
    torch._dynamo.reset()
    torch.compile(function, backend="eager")(*arguments)
    (entry,) = tree.cache_entries(function.__code__)
    return entry


def test_a_guard_that_fails_is_found_and_not_counted() -> None:
    def function(x: torch.Tensor, table: dict[str, int], scale: int) -> torch.Tensor:
        return x * table["a"] * scale

    values = {"x": torch.ones(3), "table": {"a": 2}, "scale": 3}
    entry = compiled(function, *values.values())
    assert check(entry.guards, values).failed is None
    for other in ({"x": torch.ones(4)}, {"table": {"a": 5}}, {"scale": 4}, {"scale": None}):
        (name,) = other
        failed = check(entry.guards, {**values, **other}).failed
        assert failed is not None and f"L['{name}']" in failed
        assert measure(entry.guards, {**values, **other}) is None
    assert not any(each.fail_count() for each in tree.evaluated(entry.guards.root))
    before = torch._dynamo.utils.counters["frames"]["total"]
    torch.compile(function, backend="eager")(*values.values())
    assert torch._dynamo.utils.counters["frames"]["total"] == before, "the entry still fits"


def test_costs_are_those_of_what_is_guarded() -> None:
    def function(x: torch.Tensor, y: torch.Tensor, many: list[int]) -> torch.Tensor:
        return x + y + sum(many)

    values = {"x": torch.ones(3), "y": torch.ones(3), "many": list(range(200))}
    entry = compiled(function, *values.values())
    costs = measure(entry.guards, values)
    assert costs is not None
    by_source = {manager.get_source(): manager for manager in tree.evaluated(entry.guards.root)}
    many = sum(costs.own.get(each, 0.0) for each in tree.evaluated(by_source["L['many']"]))
    assert many > costs.own[by_source["L['x']"]]
    text = guard_trees.with_costs(function.__code__, entry, values)
    assert "A lookup takes" in text and " py  " in text  # what torch guards in Python in every compile


def test_of_many_guards_what_costs_little_is_folded() -> None:
    def function(x: torch.Tensor, many: list[int], table: dict[str, list[int]]) -> torch.Tensor:
        return x + sum(many) + sum(sum(each) for each in table.values())

    table = {f"key {number}": [number, 1] for number in range(100)}
    values = {"x": torch.ones(3), "many": list(range(400)), "table": table}
    entry = compiled(function, *values.values())
    number = sum(line.is_guard for line in tree.lines(entry.guards))
    text, whole = (guard_trees.with_costs(function.__code__, entry, values, whole=asked) for asked in (False, True))
    assert f"[{entry.compile_id}] guards: {number}, " in text and f"[{entry.compile_id}] guards: {number}, " in whole
    in_python = re.search(r"(\d+) in Python", whole)
    assert in_python is not None and f"; {in_python[0]} (py)" in text.splitlines()[0]
    assert "… " not in whole and f"`guards {entry.compile_id} all` has all" in text
    folded = [int(match) for match in re.findall(r"… (\d+) guards? on \d+ values? and below", text)]
    listed = {line[24:] for line in text.splitlines()}
    guards_listed = sum(line.is_guard and str(line) in listed for line in tree.lines(entry.guards))
    assert sum(folded) + guards_listed == number and sum(folded) > number / 2
    opened = guard_trees.document_text(function.__code__, entry.compile_id)
    assert len(opened.splitlines()) == len(whole.splitlines()) and "A lookup takes" in opened


def test_no_value_is_kept_or_watched() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))

    def function(model: Any, x: torch.Tensor) -> Any:
        return model(x)

    values = {"model": model, "x": torch.ones(2, 2)}
    entry = compiled(function, *values.values())
    before = weakref.getweakrefcount(model)
    assert measure(entry.guards, values) is not None
    assert weakref.getweakrefcount(model) == before
