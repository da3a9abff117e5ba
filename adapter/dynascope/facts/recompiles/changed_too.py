"""Find the value that would have caused a compile without the size that Dynamo names, as no size that is dynamic helps.

Dynamo tells the first guard of a compile that failed. The guards of the compile that was made instead tell what the
values were in that call: a guard of the earlier compile that wants another value failed as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from dynascope.facts import model
from dynascope.facts.recompiles.guarded_value import GuardedValue, guarded_value, wanted
from dynascope.facts.recompiles.known import is_dynamic

_KINDS = ("SEQUENCE_LENGTH", "CONSTANT_MATCH", "EQUALS_MATCH", "BOOL_MATCH", "NONE_MATCH")
"""Guards on one value, which no setting makes dynamic where two compiles have them."""


def instead(entry: model.Recompile, failed: model.CompileFacts, made: model.CompileFacts) -> model.Recompile:
    """Return the failed guard that no dynamic size would have spared; the same one without such.

    `failed` is the compile whose guard failed, `made` the compile that was made instead. The same one, too, where the
    size that Dynamo names is not dynamic in the latter: then it would have caused it as well.
    """
    subject = guarded_value(entry.guard)
    if not any(is_dynamic(each, subject) for each in made.symbols):
        return entry
    for guard, other, now in _differing(failed, made):
        return structs.replace(
            entry,
            guard=guard.code[-1],
            value=f"{other.text}: {now}",
            guard_path=guard.path or None,
            guard_line=guard.line or None,
            hint=None,
        )
    return entry


def want_alike(one: model.CompileFacts, other: model.CompileFacts) -> bool:
    """Whether no guards of two compiles want a plain value to be another one."""
    return not any(_differing(one, other))


def _differing(one: model.CompileFacts, other: model.CompileFacts) -> Iterator[tuple[model.Guard, GuardedValue, str]]:
    """Yield the guards on values that another compile wants to be others, with what it wants."""
    wanted_there = {subject: value for subject, (_, value) in _values(other)}
    for subject, (guard, value) in _values(one):
        if wanted_there.get(subject, value) != value:
            yield guard, subject, wanted_there[subject]


def _values(facts: model.CompileFacts) -> Iterator[tuple[GuardedValue, tuple[model.Guard, str]]]:
    """Yield what guards want values to be."""
    for guard in facts.guards:
        if guard.kind in _KINDS and guard.code:
            subject = guarded_value(guard.code[-1])
            clause = wanted(guard.code[-1], subject) or ""
            if clause.startswith("be "):
                yield subject, (guard, clause.removeprefix("be "))
