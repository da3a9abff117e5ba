"""Find the value that would have caused a compile without the size that Dynamo names, as no size that is dynamic helps.

Dynamo tells the first guard of a compile that failed. The guards of the compile that was made instead tell what the
values were in that call: a guard of the earlier compile that wants another value failed as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, structs

from dynascope.facts import model
from dynascope.facts.recompiles.guarded_value import GuardedValue, guarded_value, readable, wanted
from dynascope.facts.recompiles.known import is_dynamic

_PLAIN = ("SEQUENCE_LENGTH", "CONSTANT_MATCH", "EQUALS_MATCH", "BOOL_MATCH", "NONE_MATCH")
"""Guards on one value, which no setting makes dynamic where two compiles have them."""
_CONTAINS = ("DICT_CONTAINS", "DICT_NOT_CONTAINS")
_A_TENSOR = "a tensor"
_NO_TENSOR = "expected type of '{}' to be a tensor type, ' but found <class 'NoneType'>"
"""The text of a guard on a tensor that fails for None (`torch._C._dynamo.guards`, 2.0)."""


class Wanted(Struct, frozen=True):
    """A value that a guard of a compile wants; others of the same `key` are of the same property."""

    key: tuple[str, str]
    subject: GuardedValue
    value: str
    guard: model.Guard
    text: str
    """The guard as Dynamo tells it where it fails."""


def instead(entry: model.Recompile, failed: model.CompileFacts, made: model.CompileFacts) -> model.Recompile:
    """Return the failed guard that no dynamic size would have spared; the same one without such.

    `failed` is the compile whose guard failed, `made` the compile that was made instead. The same one, too, where the
    size that Dynamo names is not dynamic in the latter: then it would have caused it as well.
    """
    subject = guarded_value(entry.guard)
    if not any(is_dynamic(each, subject) for each in made.symbols):
        return entry
    for before, now in differing(failed, made):
        return structs.replace(
            entry,
            guard=before.text,
            value=_met(before, now, made),
            guard_path=before.guard.path or None,
            guard_line=before.guard.line or None,
            hint=None,
        )
    return entry


def differing(one: model.CompileFacts, other: model.CompileFacts) -> Iterator[tuple[Wanted, Wanted]]:
    """Yield the plain values that two compiles want to differ: what one wants, and the other."""
    there = {each.key: each for each in _wanted(other)}
    for each in _wanted(one):
        now = there.get(each.key)
        if now is not None and now.value != each.value and (each.value != _A_TENSOR or now.value == "None"):
            yield each, now


def _wanted(facts: model.CompileFacts) -> Iterator[Wanted]:
    for guard in facts.guards:
        text = guard.code[-1] if guard.code else ""
        if guard.kind == "TENSOR_MATCH":
            text = _NO_TENSOR.format(readable(guard.expression))
            subject = guarded_value(text)
            yield Wanted(("value", subject.expression), subject, _A_TENSOR, guard, text)
        elif guard.kind in _CONTAINS and text:
            subject = guarded_value(text)
            has, _, key = (wanted(text, subject) or "").partition(" ")
            yield Wanted((key, subject.expression), subject, has, guard, text)
        elif guard.kind in _PLAIN and text:
            subject = guarded_value(text)
            clause = wanted(text, subject) or ""
            if clause.startswith("be "):
                yield Wanted((subject.kind, subject.expression), subject, clause.removeprefix("be "), guard, text)


def _met(before: Wanted, now: Wanted, made: model.CompileFacts) -> str | None:
    """Return the value in the call of a compile, in the form of `Recompile.value`."""
    passed = {} if made.call is None else dict([*made.call.arguments, *made.call.elements])
    name = before.subject.expression
    if before.guard.kind in _CONTAINS:
        keys = [each.removeprefix(f"{name}[").removesuffix("]") for each in passed if each.startswith(f"{name}[")]
        return f"{before.subject.text}: [{', '.join(keys)}]" if keys else None
    if before.value == _A_TENSOR:
        return f"{before.subject.text}: NoneType"
    return (
        f"{name}: {passed.get(readable(name), now.value)}"
        if now.value == _A_TENSOR
        else f"{before.subject.text}: {now.value}"
    )
