"""Follow which compiles are of one call of a compiled function: graph breaks split it into several."""

from __future__ import annotations

import sys
import types
from typing import NamedTuple

from msgspec import Struct, field

from dynascope.agent.tape.code import is_users, path_of
from dynascope.facts.comparison.ranks import Collective, PartOfCall

_MOST_PARTS = 64
"""The most compiles that are compared of one call."""


class FunctionPlace(NamedTuple):
    """A compiled function, as code objects tell it."""

    path: str
    line: int
    name: str


class TracedCall(Struct):
    """What is compiled of one call of a function, which is traced for the `number`th time in this process."""

    function: FunctionPlace
    number: int
    parts: list[PartOfCall] = field(default_factory=list)
    gradients: dict[str, set[str]] = field(default_factory=dict)
    """The parameters whose gradients DistributedDataParallel reduces, by its process group."""
    is_over: bool = False
    """Whether nothing more is compiled of it: its function returns."""
    before: list[Collective] = field(default_factory=list)
    """The collectives of the function's call before this one."""
    is_compared: bool = True
    """Whether all of it is known, and nothing was told of it yet."""

    def collectives(self, group: str) -> list[Collective]:
        """Return the collectives of one process group, in order."""
        return [each for part in self.parts for each in part.collectives if each.group == group]


class TracedCalls:
    """The call whose compiles are in progress. Dynamo compiles on one thread at a time."""

    def __init__(self) -> None:
        self._numbers: dict[FunctionPlace, int] = {}
        self._before: dict[FunctionPlace, list[Collective]] = {}
        self._call: TracedCall | None = None

    def compiled(self, code: types.CodeType, part: PartOfCall) -> TracedCall | None:
        """Return the call to which a compile that has just ended belongs.

        `code` is that of the function, also where what follows a graph break was compiled. None for functions of
        libraries without a graph: torch's wrappers around the compiled function, `contextlib`.
        """
        function = FunctionPlace(path_of(code), code.co_firstlineno, code.co_qualname)
        if part.compile.status != "compiled" and not is_users(function.path):
            return None
        call = self._call
        if call is None or not _is_running(call.function):
            number = self._numbers[function] = self._numbers.get(function, -1) + 1
            call = self._call = TracedCall(function, number, before=self._before.pop(function, []))
        call.parts.append(part)
        if part.compile.status not in ("compiled", "empty") or len(call.parts) == _MOST_PARTS:
            call.is_compared = False  # what runs uncompiled may call any collective
        elif function == call.function and not part.breaks:
            call.is_over = True
            self._call = None
            self._before[function] = [each for one in call.parts for each in one.collectives]
        return call


def _is_running(function: FunctionPlace) -> bool:
    """Whether this thread is in a call of the function, in code that Dynamo has made of it."""
    frame: types.FrameType | None = sys._getframe()
    while frame is not None:
        code = frame.f_code
        is_named_so = (code.co_firstlineno, code.co_qualname) == (function.line, function.name)
        if is_named_so and path_of(code) == function.path:
            return True
        frame = frame.f_back
    return False
