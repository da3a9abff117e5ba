"""A recompile that Dynamo says is for a size is named after a length or setting that changed in the same call."""

from __future__ import annotations

from dynascope.facts import model
from dynascope.facts.recompiles.causes import causes
from dynascope.facts.recompiles.changed_too import differing
from dynascope.facts.recompiles.compiles_alone import compiles_alone
from dynascope.facts.recompiles.guarded_value import guarded_value
from dynascope.facts.recompiles.known import Alone

SIZE = "tensor 'x' size mismatch at index 0. expected 5, actual 6"


def facts(id: int, *guards: tuple[str, str, str], dynamic: bool = True) -> model.CompileFacts:
    """A compile with guards, each of a kind, on an expression, with its code."""
    made = model.Compile(
        id=id, compile_id=f"0/{id}", function="f", path="a.py", line=3, status="compiled", began=0.0, seconds=1.0
    )
    found = model.CompileFacts(compile=made)
    found.guards = [
        model.Guard(path="a.py", line=5, expression=expression, kind=kind, code=[code] if code else [])
        for kind, expression, code in guards
    ]
    if dynamic:
        found.symbols = [
            model.Symbol(path="a.py", line=3, name="s77", hint="6", origins=["L['x'].size()[0]"], low="2", high="oo")
        ]
    return found


def length(number: int) -> tuple[str, str, str]:
    return "SEQUENCE_LENGTH", "L['words']", f"len(L['words']) == {number}"


def told(first: model.CompileFacts, second: model.CompileFacts) -> list[tuple[str, list[str]]]:
    """Return the cause of the second compile, and the values that it has met."""
    entry = model.Recompile(
        path="a.py", line=3, function="f", failed_compile_id="0/0", guard=SIZE, value="x: f32[6]", compile=1
    )
    by_number = {each.compile.id: each for each in (first, second)}
    found = causes([entry], {number: each.compile for number, each in by_number.items()}, by_number.get)
    return [(each.about, each.values) for each in found]


def test_a_length_that_changed_too_is_the_cause() -> None:
    assert told(facts(0, length(3), dynamic=False), facts(1, length(2))) == [("len(words)", ["2"])]
    assert told(facts(0, length(3), dynamic=False), facts(1, length(3))) == [("x.size()[0]", ["f32[6]"])]


def test_a_size_that_is_fixed_stays_the_cause() -> None:
    fixed = facts(1, length(2), dynamic=False)
    assert told(facts(0, length(3), dynamic=False), fixed) == [("x.size()[0]", ["f32[6]"])]


MASK = ("TENSOR_MATCH", "L['mask']", "")
NO_MASK = ("NONE_MATCH", "L['mask']", "L['mask'] is None")
WEIGHTS = ("DICT_CONTAINS", "L['batch']", "___dict_contains('weights', L['batch'])")
NO_WEIGHTS = ("DICT_NOT_CONTAINS", "L['batch']", "not ___dict_contains('weights', L['batch'])")


def test_a_tensor_that_is_missing_too_is_the_cause() -> None:
    assert told(facts(0, MASK, dynamic=False), facts(1, NO_MASK)) == [("type(mask)", ["NoneType"])]
    assert told(facts(0, NO_MASK, dynamic=False), facts(1, MASK)) == [("mask", ["a tensor"])]
    assert told(facts(0, MASK, dynamic=False), facts(1, MASK)) == [("x.size()[0]", ["f32[6]"])]


def test_a_key_that_is_missing_too_is_the_cause() -> None:
    assert told(facts(0, NO_WEIGHTS, dynamic=False), facts(1, WEIGHTS)) == [("names in batch", [])]
    assert told(facts(0, WEIGHTS, dynamic=False), facts(1, WEIGHTS)) == [("x.size()[0]", ["f32[6]"])]


def test_compiles_that_fit_one_size_are_those_of_other_values() -> None:
    x, fixed = ("TENSOR_MATCH", "L['x']", ""), facts(2, MASK, dynamic=False)
    for each in (without := facts(1, x, NO_MASK), fixed):
        each.call = model.CompiledCall([("x", "f32[6]")])
    fixed.guards += facts(2, x).guards
    size = guarded_value(SIZE)
    assert compiles_alone([without, fixed], size) == (Alone("0/2", 6, ["mask"]),)
    fixed.guards = facts(2, x, NO_MASK).guards  # the other one serves its calls
    assert compiles_alone([without, fixed], size) == ()


def test_compiles_want_other_values_alike_or_not() -> None:
    mode = ("CONSTANT_MATCH", "L['mode']", "L['mode'] == 'sum'")
    assert not any(differing(facts(0, length(3), mode), facts(1, length(3))))
    assert any(differing(facts(0, length(3), mode), facts(1, mode, length(2))))
