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
from dynascope.wire.dap import Breakpoint as BreakpointState
from dynascope.wire.dap import DataAccess, DataBreakpoint

_STOPS = {
    "read": "Stops when a guard on it is installed, or a node of the graph takes it as an input.",
    "write": "Stops when its fake shape, dtype or value changes, it is mutated, or its symbol is constrained.",
    "readWrite": "Stops when it is guarded on or a node takes it, and when it changes, is mutated or constrained.",
}


@dataclass(slots=True)
class Met:
    """What compiles have shown of the watched value so far, for a breakpoint that is never hit to explain itself."""

    compiled: bool = False
    """Whether its function was compiled, or a compile began in it."""
    names: set[str] = field(default_factory=set)
    """What the code of its function names."""
    value: str | None = None
    """The value as it was shown last; None while the path led nowhere."""
    symbols: set[str] = field(default_factory=set)


class Watch(Breakpoint):
    """`reads`: stops at guards and at nodes that take it. `writes`: at changes, mutations and decisions on symbols."""

    def __init__(self, asked: DataBreakpoint) -> None:
        """Raises ValueError with a sentence when its id, condition or hit condition means nothing."""
        super().__init__(asked, None)
        self.on: DataId = data_id.read(asked.data_id)
        access: DataAccess = asked.access_type or "write"
        self.reads = access != "write"
        self.writes = access != "read"
        self.met = Met()
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


class Watches:
    """All of them; a new one replaces it."""

    def __init__(self, watches: Sequence[Watch] = ()) -> None:
        self._all = tuple(watches)

    def __iter__(self) -> Iterator[Watch]:
        return iter(self._all)

    def __bool__(self) -> bool:
        return bool(self._all)

    @property
    def reads(self) -> bool:
        return any(watch.reads for watch in self._all)

    @property
    def writes(self) -> bool:
        return any(watch.writes for watch in self._all)

    @property
    def compares(self) -> bool:
        return any(watch.compares for watch in self._all)


def resolve(asked: Sequence[DataBreakpoint], before: Watches) -> tuple[list[BreakpointState], Watches]:
    """The answer to each in order, and those that are at work: one that is as `before` keeps its count of hits."""
    states, made = [], []
    kept = {watch.id: watch for watch in before}
    for each in asked:
        state = BreakpointState(id=each.id, verified=True, message=_STOPS[each.access_type or "write"])
        known = kept.get(each.id)
        try:
            made.append(known if known is not None and known.asked == each else Watch(each))
        except ValueError as error:
            state.verified, state.message, state.reason = False, str(error), "failed"
        states.append(state)
    return states, Watches(made)
