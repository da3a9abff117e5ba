"""Keep the values that can change, with their names in the frames being traced, and which of them hold which others."""

from __future__ import annotations

from collections.abc import Iterable

from dynascope.agent.internals.variables.reach import Reach, reach
from dynascope.agent.internals.variables.variables import may_change
from dynascope.agent.tape.instructions import FrameId
from dynascope.agent.tape.line_writer import TapedFrame
from dynascope.agent.tape.tape import Value

Name = tuple[FrameId, str]


class ChangeableValue:
    """A value that can change, and its names."""

    __slots__ = ("names", "variable")

    def __init__(self, variable: object) -> None:
        self.variable = variable
        self.names: dict[Name, TapedFrame] = {}


class ChangeableValues:
    """Know the values that can change, so that none is looked for when one changes."""

    def __init__(self) -> None:
        self.named: dict[Value, ChangeableValue] = {}
        self._values: dict[Name, Value] = {}
        self._reaches: dict[Value, Reach] = {}
        self._holders: dict[int, set[Value]] = {}
        """The values that hold a variable, by its `id`."""
        self._unknown: set[Value] = set()
        """The values in which something may be that is not known yet."""
        self._read_since: set[Value] = set()
        """The values in which Dynamo has read a lazy variable since their text was asked for."""

    def bind(self, frame: TapedFrame, name: str, value: Value, variable: object) -> None:
        """Note that a name of a frame stands for a value."""
        self.unbind(frame, name)
        if may_change(variable):
            key = frame.number, name
            self._values[key] = value
            changeable = self.named.get(value)
            if changeable is None:
                changeable = self.named[value] = ChangeableValue(variable)
                self._unknown.add(value)
            elif changeable.variable is not variable:
                changeable.variable = variable
                self._forget(value)
            changeable.names[key] = frame

    def unbind(self, frame: TapedFrame, name: str) -> None:
        """Note that a name stands for no value, or its frame is not being traced."""
        key = frame.number, name
        value = self._values.pop(key, None)
        if value is not None:
            names = self.named[value].names
            del names[key]
            if not names:
                self._forget(value)
                self._unknown.discard(value)
                del self.named[value]

    def holding(self, variables: Iterable[int]) -> set[Value]:
        """Return the values that have one of these variables in them."""
        for value in list(self._unknown):
            found = self._reaches.get(value)
            if found is not None and found.vt is not None:
                self._read_since.add(value)
                found = None
            if found is None:
                self._read(value)
        return {value for variable in variables for value in self._holders.get(variable, ())}

    def with_other_text(self) -> list[Value]:
        """Return the values whose text may change with others; call it after `holding`."""
        read, self._read_since = self._read_since, set()
        return [value for value, found in self._reaches.items() if not found.is_all or value in read]

    def changed(self, values: Iterable[Value]) -> None:
        """Note that there may be other variables in these values now."""
        for value in values:
            if value in self.named:
                self._forget(value)

    def _read(self, value: Value) -> None:
        self._forget(value)
        found = self._reaches[value] = reach(self.named[value].variable)
        for variable in found.inside:
            self._holders.setdefault(variable, set()).add(value)
        if not found.unread:
            self._unknown.discard(value)

    def _forget(self, value: Value) -> None:
        found = self._reaches.pop(value, None)
        self._unknown.add(value)
        for variable in found.inside if found is not None else ():
            holders = self._holders[variable]
            holders.discard(value)
            if not holders:
                del self._holders[variable]
