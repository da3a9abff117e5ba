"""Evaluate the attributes of objects by the `__init__` of their classes, and by what other methods assign.

While `__init__` is interpreted, the attributes of its object are names of the frame: ".layers" is `self.layers`, which
follows branches and loops as other names do.
"""

from __future__ import annotations

import ast
from abc import abstractmethod

from msgspec import structs

from dynascope_lsp.documents.syntax import FunctionNode, dotted
from dynascope_lsp.prediction.annotations import promised
from dynascope_lsp.prediction.modules import ClassInfo
from dynascope_lsp.prediction.named_calls import NamedCalls
from dynascope_lsp.prediction.program import Made
from dynascope_lsp.prediction.torch_names import COMPILE, DISABLING
from dynascope_lsp.prediction.values import (
    DISABLED,
    LOGGER,
    TENSOR,
    UNKNOWN,
    FunctionValue,
    Instance,
    Keyed,
    LiteralValue,
    Named,
    Partial,
    Several,
    TensorValue,
    Value,
    is_tensor,
    maybe_tensor,
    merged,
)


class Objects(NamedCalls):
    """The part of a frame that evaluates attributes of objects of the workspace's classes."""

    @abstractmethod
    def _call_of_function(
        self, function: FunctionValue, arguments: list[Value], keywords: dict[str, Value], more: bool
    ) -> Value:
        """Return the result of a call of a function of the workspace."""

    @abstractmethod
    def _value_of_attribute(
        self, owner: Instance, info: ClassInfo, value: ast.expr, method: FunctionNode | None
    ) -> Value:
        """Evaluate what a method assigns to an attribute."""

    @property
    def _state(self) -> dict[str, Value] | None:
        """Return the attributes of the object whose `__init__` runs this frame, or None."""
        bound = self._function.bound
        return self._program.state_in_the_making(bound) if isinstance(bound, Instance) else None

    def _load_state(self) -> None:
        """Take the attributes of the object that is being made as names."""
        state = self._state
        if state is not None:
            self.names |= {f".{name}": value for name, value in state.items()}

    def _store_state(self) -> None:
        state = self._state
        if state is not None:
            state |= {name[1:]: value for name, value in self.names.items() if name.startswith(".")}

    def _is_in_the_making(self, owner: Value) -> bool:
        return owner is self._function.bound and self._state is not None

    def _attribute_of(self, owner: Instance, info: ClassInfo, name: str) -> Value:
        if f".{name}" in self.names and self._is_in_the_making(owner):
            return self.names[f".{name}"]
        for each in self._program.bases(info):
            if name in each.buffers:
                missing = isinstance(each.buffers[name], ast.Constant)
                return UNKNOWN if missing else TENSOR
        if self._program.set_outside(name):
            given = self._program.given_outside(info, name)
            return merged(*given) if given else UNKNOWN
        if not owner.exact and self._program.overridden(info, name):
            return UNKNOWN
        found = self._program.method(info, name)
        if found is not None:
            return self._method_of(owner, info, name, found)
        assigned = self._assigned_to(owner, info, name)
        if assigned is not None:
            return assigned
        for each in self._program.bases(info):
            if name in each.annotations:
                return (owner.given or {}).get(name) or promised(self._program, each.module, each.annotations[name])
        return self._program.training() if name == "training" and info.node.bases else UNKNOWN

    def _of_class(self, info: ClassInfo, name: str) -> Value:
        """Evaluate an attribute of a class: a method, or what is assigned once in the class body."""
        found = self._program.method(info, name)
        if found is not None:
            return found
        if name == "__name__":
            return LiteralValue(info.name)
        places = [each for base in self._program.bases(info) for each in base.attributes.get(name, ())]
        if len(places) != 1 or places[0][1] is not None or places[0][0] is None or self._program.set_outside(name):
            return UNKNOWN
        return self._program.evaluate(info.module, places[0][0])

    def _method_of(self, owner: Instance, info: ClassInfo, name: str, found: FunctionValue) -> Value:
        replaced = self._replaced(owner, info, name)
        if replaced is not None:
            return replaced
        assert not isinstance(found.node, ast.Lambda)
        if any(dotted(each) in ("property", "functools.cached_property") for each in found.node.decorator_list):
            return self._call_of_function(structs.replace(found, bound=owner), [], {}, False)
        bound = None if any(dotted(each) == "staticmethod" for each in found.node.decorator_list) else owner
        return self._program.decorated(structs.replace(found, bound=bound))

    def _assigned_to(self, owner: Instance, info: ClassInfo, name: str) -> Value | None:
        """Evaluate an attribute by all values that are assigned to it, or return None where none is."""
        made = self._program.attributes_made(owner)
        values = [made.state[name]] if name in made.state else []
        if not values and owner.given is not None and name in owner.given and name in info.annotations:
            return owner.given[name]  # a field
        for each in self._program.bases(info):
            places = each.attributes.get(name, [])
            in_class = not values and any(method is None for _, method in places)
            if in_class and (each.node.decorator_list or each.node.bases) and not owner.exact:
                return UNKNOWN  # only a default, such as that of a dataclass field
            values += self._assigned_elsewhere(owner, each, name, made)
            if values:
                break
        if not values:
            return None
        known = [each for each in values if each != LiteralValue(None)]
        result = merged(*(known or values))  # what is None at first is set before the first call
        kinds = Instance | Several | Keyed | Named | FunctionValue | LiteralValue | TensorValue | Partial
        return result if isinstance(result, kinds) or result == LOGGER or maybe_tensor(result) else UNKNOWN

    def _assigned_elsewhere(self, owner: Instance, info: ClassInfo, name: str, made: Made) -> list[Value]:
        """Evaluate what is assigned to an attribute elsewhere than where `__init__` ran."""
        so_far = made.state.get(name, UNKNOWN)
        key = (id(info), name)
        if key in self._program.attributes_met:
            return [self._program.attributes_met[key]]  # its value depends on itself
        values: list[Value] = []
        self._program.attributes_met[key] = so_far
        for value, method in info.attributes.get(name, ()):
            if id(method) in made.ran or (method is None and name in made.state):
                continue
            if value is None:
                first = values[0] if values else so_far
                values.append(first if is_tensor(first) else UNKNOWN)
                continue
            values.append(self._value_of_attribute(owner, info, value, method))
            self._program.attributes_met[key] = values[0]
        del self._program.attributes_met[key]
        return values

    def _replaced(self, owner: Instance, info: ClassInfo, name: str) -> Value | None:
        """Return the value that replaces a method by assignment, or None.

        For example `self.step = torch.compiler.disable(self.step)`.
        """
        made = self._program.attributes_made(owner)
        if name in made.state:
            return made.state[name]
        for each in self._program.bases(info):
            for value, method in each.attributes.get(name, ()):
                if method is None or id(method) in made.ran:
                    continue
                called = self._program.name_of(each.module, value.func) if isinstance(value, ast.Call) else None
                if called in DISABLING:
                    return DISABLED
                if called != COMPILE:
                    return UNKNOWN
        return None
