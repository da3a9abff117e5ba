"""Tell what is in a container and in the containers in it, and whether its text depends on anything else."""

from __future__ import annotations

from typing import Any, NamedTuple

from dynascope.agent.internals.variables.variables import (
    builtin_part,
    class_names,
    fields,
    is_variable,
    key_variable,
    without_lazy,
)

_DEPTH = 3
"""How deep containers within containers are looked into."""
_CONTAINERS = {"ListVariable", "TupleVariable", "SizeVariable", "ConstDictVariable", "SetVariable", "FrozensetVariable"}
"""Kinds of which the text shows what is in their `items` (2.0), and no more."""
_UNCHANGEABLE = {"ConstantVariable", "SymNodeVariable", "TensorVariable"}
_THEMSELVES = _UNCHANGEABLE | {
    "BuiltinVariable",
    "NNModuleVariable",
    "PythonModuleVariable",
    "TorchInGraphFunctionVariable",
    "TupleIteratorVariable",
    "UserDefinedClassVariable",
    "UserDefinedObjectVariable",
    "UserFunctionVariable",
    "WrapperUserFunctionVariable",
}
"""Kinds of which the text, and that of kinds derived from them, tells of the value itself, and of no other."""
_tells_of_itself: dict[type, bool] = {}
_is_unchangeable: dict[type, bool] = {}
"""The types of variables found to be of `_UNCHANGEABLE` kinds: containers may have many items of one."""


class Reach(NamedTuple):
    """What is in a container; it holds until something in it changes, or one of `unread` is read."""

    inside: frozenset[int]
    """The `id` of each variable that can change."""
    unread: tuple[Any, ...]
    """The caches of lazy variables in it, whose contents are not known (`LazyCache`, 2.1)."""
    is_all: bool
    """Whether its text depends on nothing else, as it does on a list where an iterator over the list is in it."""

    @property
    def vt(self) -> Any:
        """Return a variable in it that Dynamo has read meanwhile (`LazyCache.vt`, 2.1), or None."""
        return next((cache.vt for cache in self.unread if cache.vt is not None), None)


def reach(variable: object) -> Reach:
    """Read `items` (2.0), and of a subclass of a container what `builtin_part` returns."""
    inside: set[int] = set()
    unread: list[Any] = []
    realised, cache = without_lazy(variable)
    if realised is None:
        return Reach(frozenset(), (cache,), False)
    is_all = _add(realised, inside, unread, _DEPTH)
    return Reach(frozenset(inside), tuple(unread), is_all)


def _add(container: object, inside: set[int], unread: list[Any], depth: int) -> bool:
    """Add what is in a container; whether its text depends on nothing else."""
    known = fields(container)
    items, part = known.get("items") or (), builtin_part(known)
    is_all = class_names(container)[0] in _CONTAINERS or _is_itself(container)
    if isinstance(items, dict):
        is_all = is_all and all(is_variable(key) and _is_itself(key) for key in map(key_variable, items))
    for item in (*(items.values() if isinstance(items, dict) else items), *([] if part is None else [part])):
        if _is_unchangeable.get(type(item)):
            continue
        if not is_variable(item):
            is_all = False
            continue
        held, cache = without_lazy(item)
        if held is None:
            unread.append(cache)
            continue
        if class_names(held)[0] in _UNCHANGEABLE:
            _is_unchangeable[type(held)] = True
            continue
        inside.add(id(held))
        if not _is_itself(held) or builtin_part(fields(held)) is not None:
            is_all = depth > 0 and _add(held, inside, unread, depth - 1) and is_all
    return is_all


def _is_itself(variable: object) -> bool:
    kind = type(variable)
    known = _tells_of_itself.get(kind)
    if known is None:
        known = _tells_of_itself[kind] = not _THEMSELVES.isdisjoint(class_names(variable))
    return known
