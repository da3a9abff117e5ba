"""Each remedy that a hint names, at the stop, in `why` and in the report, spares the recompile in the whole program.

One that may not is said to help "unless …".
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch
from dynascope.explain.remedies import remedies_of
from dynascope.facts.recompiles.causes import Cause, causes
from dynascope.facts.recompiles.guarded_value import GuardedValue, guarded_value
from msgspec import structs

from tests.support.agent import remedies
from tests.support.agent.recording import asking_at_recompiles, recording
from tests.support.marks import PROGRAMS, load, one_in

pytestmark = pytest.mark.second_leg

TOGETHER = PROGRAMS / "traced" / "recompiled_together.py"
PATH = PROGRAMS / "traced" / "recompiled.py"
OFTEN = PROGRAMS / "traced" / "recompiled_often.py"
OUTSIDE = PROGRAMS / "traced" / "recompiled_outside.py"
NAMES = {
    **dict.fromkeys(("nested", "three", "numbered", "twice", "both_sizes", "apart", "needed"), TOGETHER),
    **dict.fromkeys(("size", "size_of_dynamic", "pinned", "int", "relation"), PATH),
    **dict.fromkeys(("product", "numpy", "two_sizes"), OUTSIDE),
}
"""The programs; in each a size or a number is the cause of the first recompile."""


@pytest.fixture(autouse=True)
def _the_limit_of_torch() -> Iterator[None]:
    with torch._dynamo.config.patch(recompile_limit=8):
        yield


def run(path: Path, main: str) -> tuple[str, str, list[Cause]]:
    """Return what is told at the first recompile, what `why` tells there, and the causes that are recorded."""
    with recording() as facts, asking_at_recompiles() as told, contextlib.redirect_stdout(io.StringIO()):
        getattr(load(path), f"main_{main}")()
    for number, each in enumerate(facts, 1):
        each.compile.id = number
        for entry in each.recompiles:
            entry.compile = number
    by_number = {each.compile.id: each for each in facts}
    found = causes(
        [entry for each in facts for entry in each.recompiles],
        {number: each.compile for number, each in by_number.items()},
        by_number.get,
    )
    return *told[0], found


def alternatives(hint: str) -> list[str]:
    """Return each remedy that a hint names, `dynamic=True` apart."""
    return [part for part in hint.split("; or ") if "mark" in part or "dynamic=True" in part]


def is_spared(path: Path, main: str, remedy: str, subject: GuardedValue) -> bool:
    """Whether no guard on the value fails in the whole program with a remedy."""
    with recording() as facts:
        remedies.compiles(path, main, remedy)
    return not [entry for each in facts for entry in each.recompiles if guarded_value(entry.guard) == subject]


@pytest.mark.parametrize("name", one_in(4, NAMES))
def test_what_is_said_to_help_does(name: str) -> None:
    path = NAMES[name]
    told, why, found = run(path, name)
    subject = guarded_value(found[0].first.guard)
    in_why = [line.removeprefix("hint: ") for line in why.splitlines() if line.startswith("hint: ")]
    at_stop = [line.removeprefix("Hint: ") for line in told.splitlines() if line.startswith("Hint: ")]
    for hint in (*at_stop, *in_why, *remedies_of(found[0])):
        for remedy in alternatives(hint):
            assert "unless" in hint or is_spared(path, name, remedy, subject), (hint, remedy)
    at_a_stop = structs.replace(found[0].known, spared=None)  # no calls are counted there
    assert in_why == remedies_of(structs.replace(found[0], known=at_a_stop))


STAYS = "while `torch._dynamo.config.automatic_dynamic_shapes` is False, as with `dynamic=False`."


@pytest.mark.parametrize("name", ["static_size", "static_number", "static_loop"])
def test_the_setting_is_told_with_which_nothing_becomes_dynamic(name: str) -> None:
    told, why, found = run(TOGETHER, name)
    (hint,) = remedies_of(found[0])
    assert STAYS in f"{hint}." and f"Hint: {hint}" in told and f"\nhint: {hint}\n" in why
    because = STAYS.removeprefix("while ").removesuffix(".") if name != "static_loop" else "recompiled_together.py:"
    assert f"\nthis compile: the guard is still there, because {because}" in why
    subject = guarded_value(found[0].first.guard)
    (helps,) = [line for line in why.splitlines() if "tried: with `dynamic=True`" in line]
    is_gone = "the guard is gone" in helps
    assert is_spared(TOGETHER, name, "`dynamic=True`", subject) == is_gone == (name != "static_loop")


NEEDED = "The code holds this size to what it is, whatever is dynamic: "
HELD = "Sizes are dynamic, but the code held this one, or an equal one, to what it was then: "


@pytest.mark.parametrize(("name", "says"), [("needed_of_dynamic", NEEDED), ("equal_to_fixed", HELD)])
def test_what_is_dynamic_already_is_not_advised_to_be(name: str, says: str) -> None:
    told, why, found = run(TOGETHER, name)
    (hint,) = remedies_of(found[0])
    assert hint.startswith(says) and "dynamic=True" not in hint and f"\nhint: {hint}\n" in why
    assert f"\nHint: {HELD}" in told


@pytest.mark.parametrize(("name", "size"), [("passed_on", "x.size()[0]"), ("computed", "y.size()[0]")])
def test_an_argument_that_is_passed_on_after_a_graph_break_can_be_marked(name: str, size: str) -> None:
    told, why, found = run(TOGETHER, name)
    (rest,) = [each for each in found if each.resumes_at is not None and each.about == size]
    (hint,) = remedies_of(rest)
    assert "computed before a graph break cannot be marked" in hint and "maybe_mark_dynamic(argument, 0)" in hint
    assert (f"Hint: {hint}" in told and f"\nhint: {hint}\n" in why) == (name == "passed_on")  # the first recompile
    mark = "`torch._dynamo.maybe_mark_dynamic(x, 0)`"
    assert is_spared(TOGETHER, name, mark, guarded_value(rest.first.guard)) == (name == "passed_on")


KEYS = "Keep the keys and their order the same in each call, with a default where there is nothing to pass."
KEYWORDS = (
    "Each set of keywords is compiled on its own: pass the same ones in the same order in each call, with their "
    "defaults where there is nothing to pass."
)


@pytest.mark.parametrize(
    ("path", "name", "expected", "since"),
    [
        (OFTEN, "keywords", KEYWORDS, "b was not passed, and is"),
        (PATH, "keys", KEYS, "table was {'a': f32[3], 'b': 1}, and is {'a': f32[3], 'b': 1, 'c': 2}"),
        (PATH, "key_names", KEYS, "table was {'a': f32[3]}, and is {'bb': f32[3]}"),
        (OUTSIDE, "default_dict", KEYS, "table was defaultdict{'a': []}, and is defaultdict{'a': [], 'b': []}"),
    ],
)
def test_keys_are_not_taken_for_lengths(path: Path, name: str, expected: str, since: str) -> None:
    told, why, found = run(path, name)
    assert remedies_of(found[0]) == [expected]
    assert f"\nHint: {expected}\n" in told and f"\nhint: {expected}\n" in why
    assert f"\narguments since 0/0: {since}.\n" in why


@pytest.mark.parametrize("name", ["nested", "three", "numbered", "apart"])
def test_sizes_that_change_together_are_told_before_the_trace(name: str) -> None:
    told, _, found = run(TOGETHER, name)
    (hint,) = [line for line in told.splitlines() if line.startswith("Hint: ")]
    subject = guarded_value(found[0].first.guard)
    if subject.kind == "size":
        assert "It has changed together with `" in hint
        assert all(is_spared(TOGETHER, name, remedy, subject) for remedy in alternatives(hint)), hint
