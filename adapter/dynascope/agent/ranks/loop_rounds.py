"""Tell in which rounds of its loops a rank calls a collective."""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator

from dynascope.agent.internals.frames.translators import locals_of
from dynascope.agent.internals.parameter_names import ParameterNames, is_parameter, listed_modules
from dynascope.facts.comparison.called import Round, of_parameter
from dynascope.facts.comparison.plain_reads import RoundCounter, counted_at
from dynascope.facts.user_stack import UserFrame

_MOST = 4
"""The most rounds that are kept."""


class LoopRounds:
    """The rounds of loops in which this process calls collectives."""

    def __init__(self, parameters: ParameterNames) -> None:
        """Take the names of parameters, and their numbers."""
        self._parameters = parameters

    def of(self, frames: Iterable[tuple[types.FrameType, UserFrame]]) -> tuple[Round, ...]:
        """Return the rounds of the loops in which frames are, the outermost first.

        The innermost frame is passed first.
        """
        found: list[Round] = []
        for frame, user in reversed([*frames]):
            counted = counted_at(user.path, user.line)
            values = locals_of(frame) if counted else {}
            found += self._of(user.function, counted, values)
        return tuple(found[:_MOST])

    def _of(self, function: str, counted: Iterable[RoundCounter], values: dict[str, object]) -> Iterator[Round]:
        for each in counted:
            value = values.get(each.name)
            if each.modules:
                places = [at for at, one in enumerate(listed_modules(each.modules, values)) if one is value]
                if len(places) == 1:  # one module may be in a list twice
                    text = f"{each.name} is {each.modules}[{places[0]}]"
                    yield Round(function, each.name, places[0], text)
            elif is_parameter(value):
                if (known := self._parameters.known(value)) is not None:
                    name, number = known
                    yield Round(function, each.name, number, of_parameter(each.name, name))
            elif type(value) not in (int, str, float):  # no other object's `__eq__` may run
                continue
            elif not each.elements and type(value) is int:
                yield Round(function, each.name, value, f"{each.name} is {value}")
            elif value in each.elements:
                yield Round(function, each.name, each.elements.index(value), f"{each.name} is {value!r}")
