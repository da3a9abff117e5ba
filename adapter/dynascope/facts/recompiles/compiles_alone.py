"""Find the compiles that fit one number alone, though it is dynamic in other compiles of the function.

They want another value to be another one, such as an argument to be None: so the dynamic ones fit none of their calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dynascope.facts import model
from dynascope.facts.recompiles.changed_too import differing
from dynascope.facts.recompiles.guarded_value import GuardedValue, readable
from dynascope.facts.recompiles.known import Alone, is_dynamic
from dynascope.facts.recompiles.spared import differing_dtypes, numbers_in


def compiles_alone(frame: Iterable[model.CompileFacts], subject: GuardedValue) -> tuple[Alone, ...]:
    """Return the compiles that fit one number, where none with a dynamic one serves their calls.

    Of several that want the same other values the newest.
    """
    found = [each for each in frame if each.compile.status in ("compiled", "empty")]
    dynamic = [each for each in found if any(is_dynamic(symbol, subject) for symbol in each.symbols)]
    by_others: dict[tuple[str, ...], Alone] = {}
    for each in found if dynamic else ():
        number = numbers_in(each).get(subject.text)
        if number is None or each in dynamic or not _is_guarded(each, subject):
            continue
        others = [_others(each, one) for one in dynamic]
        if all(others):
            by_others[tuple(others[-1])] = Alone(each.compile.compile_id, number, others[-1])
    return tuple(by_others.values())


def _is_guarded(facts: model.CompileFacts, subject: GuardedValue) -> bool:
    return any(readable(each.expression) == readable(subject.expression) for each in facts.guards)


def _others(one: model.CompileFacts, other: model.CompileFacts) -> Sequence[str]:
    """Return the other values that two compiles want to differ."""
    plain = [
        readable(each.subject.expression) if each.subject.kind in ("value", "type") else each.subject.text
        for each, _ in differing(one, other)
    ]
    return [*dict.fromkeys(plain), *(f"{name}.dtype" for name in differing_dtypes(one, other))]
