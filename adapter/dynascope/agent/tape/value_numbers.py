"""Number the values of an attempt, in the order in which they appear."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence

from dynascope.agent.events import frames as new_values
from dynascope.agent.internals.variables.variables import contents, is_container, source_of
from dynascope.agent.tape.tape import Segment, Value

_FORGET_FROM = 2000
"""The number of values kept alive from which those are forgotten that Dynamo has dropped."""
_OWN_REFERENCES = 4
"""To a value, in `forget_dropped`: the dict's, the list's, the loop's and that of the call of `getrefcount`."""
_APPEARED: Value = -2
"""Stands for the number of a value that has appeared, until it has one."""


class ValueNumbers:
    """Tell values apart by the identity of their variables.

    Those that appear are kept alive while Dynamo does, so that an identity stands for one value.
    """

    def __init__(self, made: array[int]) -> None:
        """Take the array of the segments in which values were made, which is extended."""
        self.segment: Segment = -1
        """The segment in which values appear now."""
        self.by_identity: dict[int, Value] = {}
        """The number of each known value, by the identity of its variable."""
        self.constants: set[int] = set()
        """The identities of constants: Dynamo has one variable for all equal ones in a function."""
        self.texts: dict[Value, int] = {}
        """The latest text of values that Dynamo has read."""
        self._contents: dict[Value, list[object]] = {}
        """What was in each container that Dynamo has read when this was asked last."""
        self._made = made
        self._alive: dict[int, object] = {}
        self._forget_from = _FORGET_FROM
        self._appeared: list[object] = []
        """The values that have appeared and have no number yet, which are kept alive until then."""
        self._inputs: dict[str, Value] = {}
        """The value of each source."""
        self._shared = new_values.shared_constants()

    def appeared(self, stack: Sequence[object]) -> None:
        """Note the values on top of a value stack, which `number_appeared` numbers.

        It runs at every instruction that makes a value, outside hooks: it makes no container.
        """
        known, place = self.by_identity, len(stack)
        while place and id(stack[place - 1]) not in known:
            place -= 1
            variable = stack[place]
            known[id(variable)] = _APPEARED
            self._appeared.append(variable)
            if new_values.is_constant(variable):
                self.constants.add(id(variable))

    def number_appeared(self) -> None:
        """Number the values that have appeared in this segment, before anything is asked of one."""
        for variable in self._appeared:
            if self.by_identity[id(variable)] == _APPEARED:
                del self.by_identity[id(variable)]
                self.of(variable)
        self._appeared.clear()
        if len(self._alive) > self._forget_from:
            self._forget_dropped()

    def constant_loaded(self, variable: object, value: Value | None) -> None:
        """Note that a constant's variable stands for this value now; None: for a new one."""
        if value is None:
            value = len(self._made)
            self._made.append(self.segment)
        self.by_identity[id(variable)] = value

    def of(self, variable: object) -> Value:
        """Return the number of a value; all variables of one input have the same."""
        identity = id(variable)
        value = self.by_identity.get(identity)
        if value is None or identity in self._shared:
            source, latest = source_of(variable), len(self._made)
            value = latest if source is None else self._inputs.setdefault(source, latest)
            if value == latest:
                self._made.append(self.segment)
            if source is None and new_values.is_constant(variable):
                self.constants.add(identity)
            self.by_identity[identity] = value
            self._alive[identity] = variable
        return value

    def has_other_contents(self, variable: object) -> bool:
        """Whether others are in a container than when last asked; at first, whether any are."""
        if not is_container(variable):
            return False
        value, now = self.of(variable), list(contents(variable))
        before, self._contents[value] = self._contents.get(value), now
        return [*map(id, before or ())] != [*map(id, now)]

    def _forget_dropped(self) -> None:
        for identity, variable in list(self._alive.items()):
            if sys.getrefcount(variable) <= _OWN_REFERENCES:
                del self._alive[identity]
                self.constants.discard(identity)
                value = self.by_identity.pop(identity)
                self.texts.pop(value, None)
                self._contents.pop(value, None)
        self._forget_from = _FORGET_FROM + 2 * len(self._alive)
