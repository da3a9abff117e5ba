"""One data breakpoint, and the table of all data breakpoints."""

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
"""The message for the client, by access type."""


@dataclass(slots=True)
class Observed:
    """What compiles have shown of the value so far, to explain why it was never hit."""

    compiled: bool = False
    """Whether its function was compiled, or a compile began in it."""
    names: set[str] = field(default_factory=set)
    """The names in the code of its function."""
    value: str | None = None
    """The last value shown; None while the path had no value."""
    symbols: set[str] = field(default_factory=set)


class Watchpoint(Breakpoint):
    """Stop where the value is read by guards and nodes (`reads`), or changes (`writes`)."""

    def __init__(self, asked: DataBreakpoint, line: None = None) -> None:
        """Raise ValueError with a message for the user if the id or a condition is invalid."""
        super().__init__(asked, line)
        self.on: DataId = data_id.read(asked.data_id)
        access: DataAccess = asked.access_type or "write"
        self.reads = access != "write"
        self.writes = access != "read"
        self.observed = Observed()
        self._is_of: dict[int, tuple[weakref.ref[types.CodeType], bool]] = {}

    def is_of(self, code: types.CodeType) -> bool:
        """Whether it is about frames or compiles of this code. Cached for every instruction."""
        cached = self._is_of.get(id(code))
        if cached is None or cached[0]() is not code:
            original = resume.original_code(code)
            is_of = self.on.is_of(real_path(original.co_filename), original.co_qualname)
            cached = self._is_of[id(code)] = weakref.ref(code), is_of
        return cached[1]

    @property
    def compares(self) -> bool:
        """Whether its value has to be compared from instruction to instruction."""
        return self.writes and self.on.kind == "local"


class Watchpoints:
    """All data breakpoints. A new table replaces it."""

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
