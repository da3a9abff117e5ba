"""Assign values to names, attributes, items and the parts of these."""

from __future__ import annotations

import ast
from abc import abstractmethod

from msgspec import structs

from dynascope_lsp.prediction import rules
from dynascope_lsp.prediction.expressions import Expressions
from dynascope_lsp.prediction.values import (
    MAYBE_TENSOR,
    RANDOM,
    UNKNOWN,
    Instance,
    Keyed,
    LiteralValue,
    Several,
    Value,
    is_tensor,
    item_of,
    merged,
)


class Assignments(Expressions):
    """The part of a frame that assigns."""

    @property
    @abstractmethod
    def _is_of_module(self) -> bool:
        """Whether the frame is that of a module's top level."""

    def _forget(self, body: list[ast.stmt]) -> None:
        """Forget the values of names that a loop assigns, unless they may be tensors."""
        for each in body:
            for node in ast.walk(each):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    before = self.names.get(node.id, UNKNOWN)
                    self.names[node.id] = before if is_tensor(before) or before == MAYBE_TENSOR else UNKNOWN

    def _assign(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(name):
                self.names[name] = value
                if self._is_of_module:
                    self._program.assigned(self._module, name, value)
            case ast.Tuple(elements) | ast.List(elements):
                for place, each in enumerate(elements):
                    self._assign(each, item_of(value, place, len(elements)))
            case ast.Starred(inner):
                self._assign(inner, UNKNOWN)
            case ast.Attribute(owner, name):
                changed = self.evaluate(owner)
                if self._is_in_the_making(changed):
                    self.names[f".{name}"] = value
                elif isinstance(changed, Instance) and self._program.set_outside(name):
                    self._program.give_outside(changed.info, name, value)
            case ast.Subscript():
                self._assign_item(target, value)

    def _assign_item(self, target: ast.Subscript, value: Value) -> None:
        """Take note of an item that a mapping or a list gets."""
        container, key = self.evaluate(target.value), self.evaluate(target.slice)
        if isinstance(container, Keyed) and isinstance(key, LiteralValue):
            before = container.items.get(key.value, UNKNOWN if self._doubts else value)
            container.items[key.value] = merged(before, value)
        elif isinstance(container, Keyed):
            container.has_others = True
        elif isinstance(container, Several) and not container.called:
            self._assign(target.value, _with_item(container, key, value))
        elif is_tensor(container) and RANDOM in (key.items if isinstance(key, Several) else (key,)):
            self._report(target, rules.BRANCH_ON_RANDOM)


def either(*paths: dict[str, Value]) -> dict[str, Value]:
    """Merge the names of several paths.

    An attribute that only one path sets has the value of that path.
    """
    found: dict[str, Value] = {}
    for name in {name for each in paths for name in each}:
        values = [each.get(name) for each in paths]
        found[name] = merged(*[each for each in values if each is not None or not name.startswith(".")])
    return found


def _with_item(before: Several, key: Value, value: Value) -> Value:
    """Return a list with another value at a place."""
    place = key.value if isinstance(key, LiteralValue) else None
    if before.repeated or not isinstance(place, int) or not -len(before.items) <= place < len(before.items):
        return UNKNOWN
    items = list(before.items)
    items[place] = value
    return structs.replace(before, items=tuple(items))
