"""What filters of guards would drop: the guards left are those of a compile with the filter, and nothing is changed."""

from __future__ import annotations

import contextlib
import gc
import inspect
import re
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from dynascope.agent.documents import guard_filters
from dynascope.agent.documents.guard_filters import reduce_guards
from dynascope.agent.events import guards as built_from
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.internals.guards import tree
from dynascope.agent.speculation import rebuilt_guards as filtered
from dynascope.console import BadCommand
from torch._dynamo import guards

from tests.programs.traced import filtered_guards
from tests.support.marks import line, one_in
from tests.support.nonperturbation.capture import run
from tests.support.nonperturbation.programs import OWN

FILTERS = filtered.filters_of_torch()
BUILD = guards.CheckFunctionManager.__init__
STANCE = "skip_guard_eval_unsafe"


@pytest.fixture(autouse=True)
def kept() -> Iterator[None]:
    """Keep what guards are built from, as in a session."""
    failures: list[str] = []
    events = built_from.BuildEvents(HookFailures(failures.append))
    yield
    events.remove()
    torch._dynamo.reset()
    assert not failures, failures[0]


def compiled(name: str, keeps: filtered.Filter | None = None) -> tuple[Any, Any, dict[str, Any]]:
    """Compile a program; return its function's code, the entry used last, and the arguments of the last call."""
    function, traced, calls = filtered_guards.CALLS[name]
    torch._dynamo.reset()
    made = torch.compile(function, backend="eager", options=None if keeps is None else {"guard_filter_fn": keeps})
    for arguments in calls:
        made(*arguments)
    first = (function,) if isinstance(function, torch.nn.Module) else ()
    bound = inspect.signature(traced).bind(*first, *calls[-1])
    bound.apply_defaults()
    closure = inspect.getclosurevars(traced).nonlocals
    return traced.__code__, tree.cache_entries(traced.__code__)[0], dict(bound.arguments) | closure


def texts(lines: Sequence[Any]) -> list[str]:
    """Return lines without the number of the compile, by which torch names the dict of builtins."""
    return [re.sub(r"__builtins_dict___\d+", "__builtins_dict__", str(line)) for line in lines]


@pytest.mark.parametrize("name", one_in(3, filtered_guards.CALLS))
def test_the_guards_left_are_those_of_a_compile_with_the_filter(name: str) -> None:
    code, entry, values = compiled(name)
    before = str(entry.guards)
    found = reduce_guards(code, entry, values, FILTERS)
    assert found.unknown is None and found.own is None and str(entry.guards) == before
    assert {each.name for each in found.filtered} == FILTERS.keys() >= {"skip_guard_on_globals_unsafe"}
    for reduced in found.filtered:
        _, really, _ = compiled(name, FILTERS[reduced.name])
        assert texts(reduced.left) == texts(tree.lines(really.guards)), reduced.name
        assert reduced.gone or reduced.number == found.everything.number
        assert reduced.lookup is not None


@pytest.mark.parametrize("name", one_in(3, filtered_guards.CALLS))
def test_the_filter_of_a_compile_is_told(name: str) -> None:
    def keeps(entries: Sequence[Any]) -> list[bool]:
        return [entry.guard_type not in ("CONSTANT_MATCH", "EQUALS_MATCH") for entry in entries]

    code, plain, values = compiled(name)
    everything = reduce_guards(code, plain, values, {"keeps": keeps})
    _, entry, _ = compiled(name, keeps)
    found = reduce_guards(code, entry, values, {"keeps": keeps})
    assert texts(found.everything.left) == texts(everything.everything.left)
    if not everything.filtered[0].gone:
        assert found.own is None or not found.own.gone
        return
    assert found.own is not None
    assert texts(found.own.left) == texts(found.filtered[0].left) == texts(everything.filtered[0].left)
    told = guard_filters.filters(code, entry, values | {"keeps": keeps}, "keeps")
    assert "It was compiled with a filter, which dropped " in told


def test_what_could_change_is_named_and_goes_unnoticed(monkeypatch: pytest.MonkeyPatch) -> None:
    code, entry, values = compiled("module")
    told = guard_filters.filters(code, entry, values, "skip_guard_on_globals_unsafe")
    needs = line(Path(filtered_guards.__file__), "scaled")
    assert f"\nSCALE must be 3 (filtered_guards.py:{needs} needs this)\n" in told
    _, _, _ = compiled("module", FILTERS["skip_guard_on_globals_unsafe"])
    model, _, calls = filtered_guards.CALLS["module"]
    monkeypatch.setattr(filtered_guards, "SCALE", 5)
    made = torch.compile(model, backend="eager", options={"guard_filter_fn": FILTERS["skip_guard_on_globals_unsafe"]})
    assert not torch.equal(made(*calls[-1]), model(*calls[-1]))


def test_the_stance_leaves_what_tells_entries_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    code, entry, values = compiled("module")
    told = guard_filters.filters(code, entry, values, STANCE)
    named, _, left = told.partition("These guards are left:")
    assert "SCALE must be 3" in named and "SCALE" not in left and "source=L['x']" in left
    monkeypatch.setattr(filtered_guards, "SCALE", 5)
    model, _, calls = filtered_guards.CALLS["module"]
    with torch.compiler.set_stance(skip_guard_eval_unsafe=True):
        assert not torch.equal(torch.compile(model, backend="eager")(*calls[-1]), model(*calls[-1]))


def test_no_filter_of_this_name_and_guards_of_before() -> None:
    code, entry, values = compiled("states")
    with pytest.raises(BadCommand, match="numbers is no filter here"):
        guard_filters.filters(code, entry, values, "numbers")
    built_from._known._values.clear()
    told = guard_filters.filters(code, entry, values, "")
    assert "it was compiled before Dynascope was attached" in told and STANCE in told
    assert "keep_tensor_guards_unsafe" not in told
    assert "are tried where all guards are true" in guard_filters.filters(code, entry, values | {"numbers": []}, "")


def test_nothing_is_kept_alive_or_watched() -> None:
    code, entry, values = compiled("module")
    model = filtered_guards.Layers()
    torch._dynamo.reset()
    made = torch.compile(model, backend="eager")
    made(torch.ones(3, 2))
    (entry,) = tree.cache_entries(code)
    before = weakref.getweakrefcount(model)
    arguments = values | {"self": model, "x": torch.ones(3, 2)}
    assert reduce_guards(code, entry, arguments, FILTERS).unknown is None
    assert weakref.getweakrefcount(model) == before
    alive, layer = weakref.ref(model), weakref.ref(model.layers[0].weight)
    del model, made, values, arguments
    gc.collect()
    assert alive() is None and layer() is None and built_from.built_from(entry.guards) is not None


class Rebuilding:
    """Builds the guards of each compile again, with a filter too, in the middle of the compile."""

    def __init__(self) -> None:
        self.inexact: list[str] = []
        self.rebuilt = 0

    @contextlib.contextmanager
    def after_each_compile(self) -> Iterator[None]:
        original = guards.CheckFunctionManager.__init__

        def init(manager: Any, f_code: Any, output: Any, *args: Any, **kwargs: Any) -> None:
            original(manager, f_code, output, *args, **kwargs)
            if type(manager) is not guards.CheckFunctionManager:
                return
            guards.CheckFunctionManager.__init__ = BUILD  # type: ignore[method-assign]  # not what notes all builds
            try:
                again = filtered.Rebuilding(f_code, manager.guard_manager, dict(output.local_scope))
                again.with_filter(FILTERS["keep_tensor_guards_unsafe"])
            except filtered.NotRebuilt:
                self.inexact.append(f_code.co_name)
            guards.CheckFunctionManager.__init__ = init  # type: ignore[method-assign]
            self.rebuilt += 1

        guards.CheckFunctionManager.__init__ = init  # type: ignore[method-assign]
        try:
            yield
        finally:
            guards.CheckFunctionManager.__init__ = original  # type: ignore[method-assign]


@pytest.mark.parametrize("name", one_in(3, sorted(OWN)))
def test_guards_are_built_again_as_they_are_and_nothing_changes(name: str) -> None:
    program = OWN[name]()
    rebuilding = Rebuilding()
    run(program, contextlib.nullcontext())  # warms caches
    plain = run(program, contextlib.nullcontext())
    assert plain.differences(run(program, rebuilding.after_each_compile())) == []
    assert rebuilding.rebuilt and not rebuilding.inexact
