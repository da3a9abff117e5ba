"""Read the next items of Dynamo's iterators without advancing them (kinds of `variables.iter` and `variables.lists`).

Names without a version exist since 2.11, the first supported one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dynascope.agent.internals.variables.held import Parts
from dynascope.agent.internals.variables.variables import (
    SideEffects,
    class_names,
    fields,
    is_variable,
    key_variable,
    variables_among,
    without_lazy,
)


def _list_iterator(_: object, known: dict[str, Any], __: SideEffects) -> Parts:
    items, index = known.get("items") or (), known.get("index", 0)
    parts = {f"[{i}]": variable for i, variable in enumerate(items)}
    return Parts(f"iterator at {index} of {len(items)}", parts, is_iterator=True, rest=list(items)[index:])


def _range_iterator(_: object, known: dict[str, Any], __: SideEffects) -> Parts:
    start, step, count = known.get("start"), known.get("step"), known.get("len")
    if not (type(start) is int and type(step) is int and type(count) is int):
        return Parts("range iterator", variables_among(known), is_iterator=True)
    rest = range(start, start + max(count, 0) * step, step)
    return Parts(f"iterator over {rest}", is_iterator=True, rest=rest)


def _dict_iterator(variable: object, known: dict[str, Any], _: SideEffects) -> Parts:
    """Read `DictViewIterator._iter` (2.13), a Python iterator; its `__reduce__` copies the rest."""
    left = known["_iter"].__reduce__()[1][0]
    rest = [tuple(map(key_variable, each)) if type(each) is tuple else key_variable(each) for each in left]
    kind = class_names(variable)[0].removesuffix("Iterator")
    return Parts(f"{kind} iterator, {len(rest)} left", is_iterator=True, rest=rest)


def _zip(_: object, known: dict[str, Any], effects: SideEffects) -> Parts:
    """Read `iterables`, lists from `index` or iterators (to 2.12), or a tuple `iterable` (2.13)."""
    together = known.get("iterable")
    content = known.get("iterables") if together is None else fields(together).get("items")
    columns = [_rest_of(each, known.get("index", 0), effects) for each in content or ()]
    parts = variables_among({"": [each for each in content or () if is_variable(each)]})
    known_columns = [column for column in columns if column is not None]
    if len(known_columns) < len(columns):
        return Parts("zip", parts, is_iterator=True)
    rest = list(zip(*known_columns, strict=False))
    return Parts(f"zip iterator, {len(rest)} left", parts, is_iterator=True, rest=rest)


def _rest_of(iterated: Any, index: int, effects: SideEffects) -> Sequence[object] | None:
    if isinstance(iterated, list):
        return iterated[index:]
    seen, _ = without_lazy(iterated)
    reader = next((READERS[name] for name in class_names(seen) if name in READERS), None) if seen is not None else None
    return reader(seen, fields(seen), effects).rest if reader is not None else None


def _any_iterator(variable: object, known: dict[str, Any], _: SideEffects) -> Parts:
    kind = class_names(variable)[0].removesuffix("Variable").removesuffix("Iterator").lower()
    return Parts(f"{kind} iterator", variables_among(known), is_iterator=True)


READERS: dict[str, Callable[[object, dict[str, Any], SideEffects], Parts]] = {
    "ListIteratorVariable": _list_iterator,
    "BaseListIteratorVariable": _list_iterator,
    "RangeIteratorVariable": _range_iterator,
    "DictViewIterator": _dict_iterator,
    "MapVariable": _any_iterator,
    "ZipVariable": _zip,
    "IteratorVariable": _any_iterator,
}
"""By class name, most derived first."""
