"""Write what has changed in values since their names were bound: items, attributes, and what holds them."""

from __future__ import annotations

from collections.abc import Container

from dynascope.agent.events import frames as new_values
from dynascope.agent.inspection.values.rows import ViewOptions
from dynascope.agent.inspection.values.symbolic_text import variable_text
from dynascope.agent.internals.variables.reach import reach
from dynascope.agent.internals.variables.variables import is_container
from dynascope.agent.tape.changeable_values import ChangeableValues
from dynascope.agent.tape.tape import Segment, Tape, Value
from dynascope.agent.tape.value_numbers import ValueNumbers


class ChangeWriter:
    """Collect what Dynamo says has changed, and write it where the segment ends."""

    def __init__(self, tape: Tape, values: ValueNumbers, options: ViewOptions) -> None:
        self.changeable = ChangeableValues()
        self._tape = tape
        self._values = values
        self._options = options
        self._changed: list[tuple[object, str | None]] = []

    def changed(self, variable: object, attribute: str | None) -> None:
        """Note that a value changes, or its attribute; how is read by `write`."""
        self._changed.append((variable, attribute))

    def any(self) -> bool:
        return bool(self._changed)

    def any_cell(self) -> bool:
        """Whether the variable of a nested function has changed."""
        return any(new_values.is_cell(variable) for variable, _ in self._changed)

    def write(self, segment: Segment) -> None:
        """Write the values that have changed, those that hold them, and containers' texts."""
        named = self.changeable.named
        variables = {id(variable): variable for variable, _ in self._changed}
        others = {each for each, variable in variables.items() if self._values.has_other_contents(variable)}
        values = {value: named[value].variable for value in sorted(self.changeable.holding(variables))}
        for variable, attribute in self._changed:
            if attribute is None:
                values[self._values.of(variable)] = variable
            elif not new_values.is_cell(variable):
                self._write_attribute(segment, self._values.of(variable), variable, attribute)
        self._changed.clear()
        texts = {value: self._text(variable) for value, variable in values.items()}
        for value, text in texts.items():
            if self._is_other(value, values[value], text, others):
                self._values.texts[value] = text
                self._tape.changes.add(segment, value, text)
        if not all(map(_changes_alone, variables.values())):  # then others' texts may change with theirs
            more = {value: named[value].variable for value in self.changeable.with_other_text()}
            texts |= {v: self._text(each) for v, each in more.items() if v not in texts and is_container(each)}
        for value, text in texts.items():
            if value in named and is_container(named[value].variable):
                self._rewrite_names(segment, value, text)
        self.changeable.changed(values)

    def _is_other(self, value: Value, variable: object, text: int, others: Container[int]) -> bool:
        """Whether a change of the value is recorded.

        Dynamo reports changes also where nothing is other than before.
        """
        if "…" in self._tape.texts.all[text] or id(variable) in others:
            return True
        before = self._values.texts.get(value)
        if before != text and not (before is None and is_container(variable)):  # a constructor fills it
            return True
        return bool(others) and any(each in others for each in reach(variable).inside)

    def _rewrite_names(self, segment: Segment, value: Value, text: int) -> None:
        for (_, name), frame in self.changeable.named[value].names.items():
            if text != frame.texts[name]:
                frame.rewrite(self._tape, segment, name, text)

    def _write_attribute(self, segment: Segment, value: Value, variable: object, attribute: str) -> None:
        assert self._options.effects is not None
        now = self._options.effects.pending_attributes(variable).get(attribute)
        text = f".{attribute} = {variable_text(self._options, now, 1)}" if now is not None else f"del .{attribute}"
        self._tape.changes.add(segment, value, self._tape.texts.number(text))

    def _text(self, variable: object) -> int:
        return self._tape.texts.number(variable_text(self._options, variable, 0))


def _changes_alone(variable: object) -> bool:
    """Whether no other's text changes with it, but of what holds it in a container."""
    return new_values.is_cell(variable) or new_values.is_iterator(variable)
