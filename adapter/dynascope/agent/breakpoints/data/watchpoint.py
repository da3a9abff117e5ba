"""One data breakpoint at work, and all of them at one moment."""

from __future__ import annotations

import types
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dynascope.agent.breakpoints.breakpoint import Breakpoint
from dynascope.agent.breakpoints.data import data_id
from dynascope.agent.breakpoints.data.data_id import DataId
from dynascope.agent.internals.frames import resume
from dynascope.agent.program.user_code import real_path
from dynascope.wire.dap import DataAccess, DataBreakpoint

STOPS_AT = {
    "read": "Stops when a guard on it is installed, or a node of the graph takes it as an input.",
    "write": "Stops when its fake shape, dtype or value changes, it is mutated, or its symbol is constrained.",
    "readWrite": "Stops when it is guarded on or a node takes it, and when it changes, is mutated or constrained.",
}
"""What the client is told, by access type."""


@dataclass(slots=True)
class Observed:
    """What compiles have shown of the watched value so far, for a breakpoint that is never hit to explain itself."""

    compiled: bool = False
    """Whether its function was compiled, or a compile began in it."""
    names: set[str] = field(default_factory=set)
    """What the code of its function names."""
    value: str | None = None
    """The value as it was shown last; None while the path led nowhere."""
    symbols: set[str] = field(default_factory=set)


class Watchpoint(Breakpoint):
    """`reads`: stops at guards and at nodes that take it. `writes`: at changes, mutations and decisions on symbols."""

    def __init__(self, asked: DataBreakpoint, line: None = None) -> None:
        """Raises ValueError with a sentence when its id, condition or hit condition means nothing."""
        super().__init__(asked, line)
        self.on: DataId = data_id.read(asked.data_id)
        access: DataAccess = asked.access_type or "write"
        self.reads = access != "write"
        self.writes = access != "read"
        self.observed = Observed()
        self._is_of: dict[int, tuple[weakref.ref[types.CodeType], bool]] = {}

    def is_of(self, code: types.CodeType) -> bool:
        """Whether it is about frames (or compiles) of this code. Cached: it is asked at every instruction."""
        known = self._is_of.get(id(code))
        if known is None or known[0]() is not code:
            original = resume.original_code(code)
            is_of = self.on.is_of(real_path(original.co_filename), original.co_qualname)
            known = self._is_of[id(code)] = weakref.ref(code), is_of
        return known[1]

    @property
    def compares(self) -> bool:
        """Whether its value has to be compared from instruction to instruction."""
        return self.writes and self.on.kind == "local"


class Watchpoints:
    """All of them; a new one replaces it."""

    def __init__(self, watchpoints: Sequence[Watchpoint] = ()) -> None:
        self._all = tuple(watchpoints)

    def __iter__(self) -> Iterator[Watchpoint]:
        return iter(self._all)

    def __bool__(self) -> bool:
        return bool(self._all)

    @property
    def reads(self) -> bool:
        return any(watchpoint.reads for watchpoint in self._all)

    @property
    def writes(self) -> bool:
        return any(watchpoint.writes for watchpoint in self._all)

    @property
    def compares(self) -> bool:
        return any(watchpoint.compares for watchpoint in self._all)
