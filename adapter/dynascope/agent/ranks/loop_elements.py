"""Tell for which element of a loop a frame calls: a text, or a parameter of a module."""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from dynascope.agent.internals.frames.translators import locals_of
from dynascope.agent.internals.parameter_names import ParameterNames, is_module, is_parameter
from dynascope.agent.ranks.object_classes import class_of_program
from dynascope.facts.comparison.called import of_parameter
from dynascope.facts.comparison.plain_reads import elements_read
from dynascope.facts.user_stack import UserFrame

_LONGEST = 100
"""The most characters of an element."""
_MOST_VALUES = 64
"""The most local variables, and attributes of an object, among which modules are searched for."""


class LoopElements:
    """The elements of loops for which this process calls collectives."""

    def __init__(self, parameters: ParameterNames) -> None:
        """Take the names of parameters."""
        self._parameters = parameters

    def of(self, frames: Sequence[tuple[types.FrameType, UserFrame]]) -> str:
        """Return the element that the innermost frame with such reads: `name is 'weight'`.

        The innermost frame is the first. Without a text or parameter, it is the class of an object. "" for another one.
        """
        for frame, user in frames:
            names = elements_read(user.path, user.line)
            values = locals_of(frame) if names else {}
            if parameter := self._parameter(names, values, frames):
                return parameter
            texts = [f"{name} is {values[name]!r}" for name in names if type(values.get(name)) is str]
            if texts:
                return " and ".join(texts)[:_LONGEST]
        return self._object(frames)

    def _object(self, frames: Sequence[tuple[types.FrameType, UserFrame]]) -> str:
        """Return the class of an object for which a frame calls: `hook is a Counter`."""
        for frame, user in frames:
            names = elements_read(user.path, user.line)
            values = locals_of(frame) if names else {}
            told = [f"{name} is {text}" for name in names if (text := class_of_program(values.get(name))) is not None]
            if told:
                return told[0][:_LONGEST]
        return ""

    def _parameter(
        self, names: Sequence[str], values: dict[str, Any], frames: Sequence[tuple[types.FrameType, UserFrame]]
    ) -> str | None:
        target = next((name for name in names if is_parameter(values.get(name))), None)
        found = self._parameters.name_of(values[target], _modules_in(frames)) if target is not None else None
        return of_parameter(target, found) if target is not None and found is not None else None


def _modules_in(frames: Sequence[tuple[types.FrameType, UserFrame]]) -> Iterator[Any]:
    """Yield the modules among the local variables of frames, then among their attributes."""
    values = [each for frame, _ in frames for each in islice(locals_of(frame).values(), _MOST_VALUES)]
    yield from filter(is_module, values)
    for each in values:
        if not is_module(each):
            yield from filter(is_module, islice(_attributes(each), _MOST_VALUES))


def _attributes(value: object) -> list[Any]:
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return []
    return [*own.values()] if type(own) is dict else []
