"""A guard that will fail later is told before the code is compiled again, and nothing else is."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

pytest.importorskip("torch")

import torch
from dynascope.explain.coming_recompiles import coming_recompiles, sentence, subject
from dynascope.explain.problem import Identities
from dynascope.facts.model import VaryingGuard
from dynascope.facts.recompiles.guarded_value import guarded_value
from torch._dynamo.utils import counters

from tests.support.agent.recording import recording
from tests.support.agent.scripted_session import ScriptedSession
from tests.support.marks import PROGRAMS, labels, load, one_in
from tests.support.nonperturbation.capture import Traces, guards_and_bytecode

PATH = PROGRAMS / "traced" / "varying.py"
LABELS = labels(PATH)
TOLD = {
    "counter": ("counter", "self.step must be 2, and the call itself makes it 3"),
    "global_counter": ("global_counter", "CALLS must be 2, and the call itself makes it 3"),
    "global_object": ("global_object", "STATE.calls must be 2, and the call itself makes it 3"),
    "item": ("item", "COUNTS['calls'] must be 2, and the call itself makes it 3"),
    "item_of_list": ("item_of_list", "self.places[0] must be 2, and the call itself makes it 3"),
    "item_resized": ("item_resized", "self.kept['keys'].size()[0] must be 2, and the call itself makes it 3"),
    "history": ("history", "len(self.history) must be 0, and the call itself makes it 1"),
    "table": ("table", "len(self.table) must be 0, and the call itself makes it 1"),
    "lazily": ("lazily", "self.table must be None, and the call itself makes it f32[3]"),
    "cached": ("cached", "self.keys.size()[0] must be 2, and the call itself makes it 3"),
    "flagged": ("flagged", "self.is_first must be what the class has, and the call itself sets it in the object"),
    "restored_of_class": ("restored_of_class", "self.depth must be what the class has, and the call itself sets it"),
    "cell": ("cell", "calls must be 2, and the call itself makes it 3"),
    "inner": ("counter", "self.counter.step must be 2, and the call itself makes it 3"),
    "layers": ("layers", "self.number must be 2, and is 3, 4 in modules of its class in the same list"),
    "decorated": ("decorated", "self.options['mode'] must be 'sin', and is 'cos' in modules of its class"),
    "seen": ("seen", "SCALE must be 2, and was 5 when shifted [1/0] was compiled"),
    "view": ("view", "x.size()[0] is fixed to 4: this tensor is a view of one on which"),
    "mark": ("mark", "x.size()[0] is marked dynamic, but fixed to 4: "),
    "mark_of_one": ("view", "x.size()[0] is marked dynamic, but fixed to 1: "),
}
"""Each is compiled again for that when it runs on. Written, with the programs, before the rules were tried on them."""
READ_LATER = "global_counter", "cell", "item", "item_of_list"
"""torch 2.15 reads an int when it is used: its first use is in the next line."""
SILENT = (
    "restored",
    "restored_after_a_break",
    "item_set_back",
    "item_of_argument",
    "in_a_tensor",
    "written_only",
    "same_value",
    "new_list",
    "new_object",
    "equal_layers",
    "compiled_as_a_whole",
    "one_layer_compiled",
    "mark_that_arrives",
    "seen_alike",
    "new_tensor_of_one_size",
)
"""None is compiled again when it runs on."""


@pytest.fixture(autouse=True)
def _from_the_beginning() -> Iterator[None]:
    torch._dynamo.reset()
    with torch._dynamo.config.patch(recompile_limit=8):
        yield


def run(name: str) -> tuple[list[VaryingGuard], list[str]]:
    """Return what is told after the first calls, and the guards that fail when the program runs on."""
    program = getattr(load(PATH), f"main_{name}")()
    with recording() as found:
        next(program)
        told = [guard for each in found for guard in each.varying_guards]
        assert not [each for facts in found for each in facts.recompiles], "told too late"
        for _ in program:
            pytest.fail("it yields once")
        return told, [each.guard for facts in found for each in facts.recompiles]


@pytest.mark.parametrize("name", TOLD)
def test_it_is_told_where_it_is_and_comes_true(name: str) -> None:
    (told,), failed = run(name)
    label, text = TOLD[name]
    assert told.path == str(PATH) and 0 <= told.line - LABELS[label] <= (name in READ_LATER)
    assert sentence(told).startswith(text), sentence(told)
    assert subject(told) in [(each.expression, each.dimension) for each in map(guarded_value, failed)], failed


@pytest.mark.parametrize("name", SILENT)
def test_nothing_is_told_where_nothing_is_compiled_again(name: str) -> None:
    assert run(name) == ([], [])


def test_the_mark_is_to_be_on_what_is_passed() -> None:
    told, _ = run("view")
    (problem,) = coming_recompiles(told, Identities(lambda source: []))
    (remedy,) = problem.remedies
    assert remedy.startswith(
        "Mark the tensor that is passed: call `torch._dynamo.mark_dynamic` after the last `.view()`"
    )


def test_a_view_without_the_marked_size() -> None:
    told, _ = run("view_of_another_size")
    assert told == []


@pytest.mark.parametrize("name", one_in(5, [*TOLD, *SILENT]))
def test_looking_changes_nothing(name: str) -> None:
    plain, recorded = traces(name, contextlib.nullcontext()), traces(name, recording())
    assert plain.differences(recorded) == [] and plain.guards


def traces(name: str, observer: contextlib.AbstractContextManager[object]) -> Traces:
    """Return what the program leaves behind."""
    found = Traces()
    torch._dynamo.reset()
    counters.clear()
    with guards_and_bytecode(found), observer:
        list(getattr(load(PATH), f"main_{name}")())
    found.counters = repr({name: dict(counted) for name, counted in sorted(counters.items())})
    return found


def test_why_tells_it_at_a_stop() -> None:
    told: list[str] = []
    session = ScriptedSession()
    session.break_at(PATH, LABELS["after"])
    session.at_stop = lambda stopped: told.append(stopped.type("why"))
    with session.attached():
        next(load(PATH).main_layers())
    (answer,) = told
    first, row = answer.splitlines()
    assert first == "This is the first compile of Layer.forward."
    assert row.startswith("will vary: self.number must be 2, and is 3, 4 in modules of its class in the same list")
    assert row.endswith(f"(varying.py:{LABELS['layers']} needs this).")
