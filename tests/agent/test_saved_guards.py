"""Which guards torch could save with compiled code: those that it really saves and refuses, and nothing is changed."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from dynascope.agent.documents.saved_guards import saved_guards
from dynascope.agent.events import guards as built_from
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.internals.guards import tree
from dynascope.agent.speculation import rebuilt_guards as filtered
from dynascope.agent.speculation import saved_guards as saved
from dynascope.console import BadCommand
from torch._dynamo import guards, package
from torch._dynamo.aot_compile_types import SerializableCallable

from tests.programs.traced import saved_guards as programs
from tests.support.marks import line, one_in
from tests.support.nonperturbation.capture import run
from tests.support.nonperturbation.programs import OWN

BUILD = guards.CheckFunctionManager.__init__
Key = tuple[str, str]


@pytest.fixture(autouse=True)
def kept() -> Iterator[None]:
    """Keep what guards are built from, as in a session."""
    failures: list[str] = []
    events = built_from.BuildEvents(HookFailures(failures.append))
    with torch._dynamo.config.patch(enable_aot_compile=True):
        yield
    events.remove()
    torch._dynamo.reset()
    assert not failures, failures[0]


class Eager(SerializableCallable):
    """A graph that counts as one that can be saved; here only its guards are."""

    def __init__(self, graph: Any, inputs: Any) -> None:
        self.graph = graph

    def __call__(self, *arguments: Any) -> Any:
        return self.graph(*arguments)

    @classmethod
    def serialize_compile_artifacts(cls, fn: Any) -> bytes:
        raise NotImplementedError

    @classmethod
    def deserialize_compile_artifacts(cls, data: bytes) -> Any:
        raise NotImplementedError


def mode_of(name: str) -> contextlib.AbstractContextManager[Any]:
    return programs.MODES.get(name, contextlib.nullcontext)()


def locals_of(name: str) -> dict[str, Any]:
    """Return the variables of the frame of a program's call."""
    function, arguments = programs.CALLS[name]
    return dict(inspect.signature(function).bind(*arguments).arguments) | inspect.getclosurevars(function).nonlocals


def compiled(name: str, keeps: Any = None) -> tuple[Any, Any, saved.Saving, list[Any]]:
    """Compile a program; return its code, its entry, what saves its guards, and these."""
    function, arguments = programs.CALLS[name]
    torch._dynamo.reset()
    options = {} if keeps is None else {"options": {"guard_filter_fn": keeps}}
    torch.compile(function, backend="eager", fullgraph=True, **options)(*arguments)
    (entry,) = tree.cache_entries(function.__code__)
    rebuilding = filtered.Rebuilding(function.__code__, entry.guards, locals_of(name))
    return function.__code__, entry, saved.Saving(rebuilding), rebuilding.source.guards


def really(name: str, keeps: Any = None) -> tuple[str | None, str, list[Key]]:
    """Compile ahead of time, and load: return what fails when, its text, and the guards that were saved."""
    function, arguments = programs.CALLS[name]
    torch._dynamo.reset()
    options = {} if keeps is None else {"options": {"guard_filter_fn": keeps}}
    made: Any = torch.compile(function, backend=Eager, fullgraph=True, **options)
    try:
        with mode_of(name):
            state = made.aot_compile((arguments, {}))._artifacts.guards_state
    except Exception as error:
        return "save", str(error), []
    return loaded(state, name)


def loaded(state: bytes, name: str) -> tuple[str | None, str, list[Key]]:
    """Load outside of the mode of a program, and check the guards inside."""
    function, values = programs.CALLS[name][0], locals_of(name)
    try:
        guards_state = package.load_guards_state(state)
        manager = package.load_guard_manager(guards_state, function.__code__, function.__globals__)
    except Exception as error:
        return "load", str(error), []
    keys = keys_of(guards_state.output_graph._guards)
    with mode_of(name):
        return None if manager.check(values) else "use", str(manager.check_verbose(values)), keys


def keys_of(some: Sequence[Any]) -> list[Key]:
    return sorted((re.sub(r"__builtins_dict___\d+", "", guard.name), guard.create_fn_name()) for guard in some)


def at(trouble: saved.Trouble | None) -> str | None:
    return None if trouble is None else trouble.at


@pytest.mark.parametrize("name", one_in(5, programs.CALLS))
def test_what_is_saved_is_what_torch_saves(name: str) -> None:
    with mode_of(name):
        _, _, saving, collected = compiled(name)
        found = saving.by_aot_compile()
    assert len(found.kept) + len(found.dropped) == len(collected)
    when, text, keys = really(name)
    assert at(found.trouble) == when
    if found.trouble is not None and when == "save":
        assert without_ids(found.trouble.reason).endswith(without_ids(text))
    if keys:
        assert keys_of(found.kept) == keys
    assert (found.rest is None) == (when is None)


def without_ids(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+|\d{9,}", "ID", " ".join(text.split()))


def keep_all(entries: Sequence[Any]) -> list[bool]:
    return [True for _ in entries]


@pytest.mark.parametrize("name", one_in(5, programs.CALLS))
def test_those_refused_are_those_that_torch_refuses_beside_the_others(name: str) -> None:
    with mode_of(name):
        _, _, saving, _ = compiled(name, keep_all)
        found = saving.by_aot_compile()
    assert not found.dropped and (found.trouble is None or found.refused)
    told = {keys_of([guard])[0]: trouble for guard, trouble in found.refused}
    for key in (None, *told):

        def keeps(entries: Sequence[Any], key: Key | None = key) -> list[bool]:
            keys = [keys_of([entry.orig_guard])[0] for entry in entries]
            return [each == key or each not in told for each in keys]

        when, text, keys = really(name, keeps)
        assert when == (None if key is None else told[key].at), (key, text)
        if when == "save":
            assert without_ids(told[key].reason).endswith(without_ids(text))
        if key is None:
            assert found.rest is None or (found.rest.trouble is None and keys_of(found.rest.kept) == keys)


def cached(name: str) -> tuple[str | None, str, list[Key]]:
    """Compile with `caching_precompile`, and load: return what fails when, its text, and the guards that were saved."""
    function, arguments = programs.CALLS[name]
    torch._dynamo.reset()
    kept = package.CompilePackage(function)
    with torch._dynamo.config.patch(caching_precompile=True, strict_precompile=True):
        made = torch._dynamo.optimize("eager", nopython=True, package=kept)(function)
        try:
            with mode_of(name):
                made(*arguments)
        except Exception as error:
            return "save", str(error), []
    (guarded,) = [each for code in kept.cache_entry().codes for each in code.guarded_codes]
    return loaded(guarded.guards_state, name)


@pytest.mark.parametrize("name", one_in(5, programs.CALLS))
def test_what_is_cached_is_what_torch_caches(name: str) -> None:
    with mode_of(name):
        _, _, saving, _ = compiled(name)
        found = saving.by_caching_precompile()
    when, text, keys = cached(name)
    assert at(found.trouble) == when
    if found.trouble is not None and when == "save":
        assert without_ids(found.trouble.reason) in without_ids(text)
    if keys:
        assert keys_of(found.kept) == keys


def told(name: str, way: str = "", keeps: Any = None) -> str:
    with mode_of(name):
        code, entry, _, _ = compiled(name, keeps)
        return saved_guards(code, entry, locals_of(name), way)


def place(mark: str) -> str:
    return f"({Path(programs.__file__).name}:{line(Path(programs.__file__), mark)}"


def test_a_reason_is_told_with_the_line_and_what_to_do() -> None:
    text = told("local class")
    assert "aot_compile and caching_precompile: torch refuses to save them because of 2 guards:" in text
    assert f"  TYPE_MATCH of settings {place('attribute')}), CONSTANT_MATCH of settings.scale " in text
    assert ".Inner is defined in a function.\n    hint: Define it at the top level of a module.\n  tried: " in text
    assert "drops 2 guards more, torch saves the other " in text and text.count(". Loaded again, they are true ") == 1
    assert "_thread.lock" in told("not picklable")
    does_save = really("gradient")[0] is None  # since torch 2.14 or 2.15
    assert ("The tensor has a gradient, which torch does not save with it." in told("gradient")) != does_save
    text = told("closure", keeps=keep_all)
    assert f"CLOSURE_MATCH of function {place('closed_over')})\n    torch saves no CLOSURE_MATCH: it pins " in text


def test_what_is_dropped_is_told() -> None:
    assert f"noticed: SCALE {place('global')}), TENSOR {place('global')}).\n\ncaching_precompile: " in told("global")
    text = told("global", "aot_compile")
    assert "caching_precompile" not in text and f"\nSCALE must be 3 {place('global')} needs this)\n" in text
    assert "\nThese guards are saved:\nx must keep its type, " in text
    assert f"which object function is {place('called')})" in told("function")

    def keeps(entries: Sequence[Any]) -> list[bool]:
        return ["SCALE" not in entry.name for entry in entries]

    text = told("global", keeps=keeps)
    assert f". These can then change without being noticed: SCALE {place('global')}).\n" in text


@pytest.mark.parametrize("mode", ["autocast", "inference"])
def test_guards_that_are_made_from_the_state_of_the_load_are_told(mode: str) -> None:
    assert ("this frame runs in autocast or inference mode." in told(mode)) == (really(mode)[0] == "use")


def test_it_is_said_when_nothing_can_be_told() -> None:
    with pytest.raises(BadCommand, match="export is no way to save guards"):
        told("global", "export")
    code, entry, _, _ = compiled("attribute")
    text = saved_guards(code, entry, {"x": programs.ONE, "settings": 1}, "")
    assert "saving is tried where all guards are true. For the values in this frame this guard fails" in text
    built_from._known._values.clear()
    text = saved_guards(code, entry, locals_of("attribute"), "")
    assert text.endswith("is not known: it was compiled before Dynascope was attached.")


class SavingAll:
    """Saves the guards of each compile in the middle of the compile."""

    def __init__(self) -> None:
        self.saved: list[saved.Saved] = []

    @contextlib.contextmanager
    def after_each_compile(self) -> Iterator[None]:
        original = guards.CheckFunctionManager.__init__

        def init(manager: Any, f_code: Any, output: Any, *args: Any, **kwargs: Any) -> None:
            original(manager, f_code, output, *args, **kwargs)
            if type(manager) is not guards.CheckFunctionManager:
                return
            guards.CheckFunctionManager.__init__ = BUILD  # type: ignore[method-assign]  # not what notes all builds
            saving = saved.Saving(filtered.Rebuilding(f_code, manager.guard_manager, dict(output.local_scope)))
            self.saved += [saving.by_aot_compile(), saving.by_caching_precompile()]
            guards.CheckFunctionManager.__init__ = init  # type: ignore[method-assign]

        guards.CheckFunctionManager.__init__ = init  # type: ignore[method-assign]
        try:
            yield
        finally:
            guards.CheckFunctionManager.__init__ = original  # type: ignore[method-assign]


@pytest.mark.parametrize("name", one_in(3, sorted(OWN)))
def test_guards_are_saved_on_the_side_and_nothing_changes(name: str) -> None:
    program, saving = OWN[name](), SavingAll()
    run(program, contextlib.nullcontext())  # warms caches
    plain = run(program, contextlib.nullcontext())
    assert plain.differences(run(program, saving.after_each_compile())) == []
    assert saving.saved
