"""The user's breakpoints: numbered here, kept across restarts, sent to the adapter file by file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dynascope.terminal.breakpoints.locations import Group, Location, display_path
from dynascope.terminal.breakpoints.options import ALWAYS, When
from dynascope.wire.dap import HAS_STOPPED, Breakpoint


@dataclass
class UserBreakpoint:
    """One breakpoint as asked for, and what the adapter made of it (`answer`; None until it has been asked).

    `once` is when a `tbreak` at the same place stops, which goes before its own until the next stop there.
    `data_id` is the adapter's name for what is watched; "" until it has been asked.
    """

    number: int
    location: Location
    when: When = ALWAYS
    temporary: bool = False
    enabled: bool = True
    answer: Breakpoint | None = None
    hits: int = 0
    once: When | None = None
    data_id: str = ""

    def to_dap(self) -> dict[str, Any]:
        """A DAP SourceBreakpoint, FunctionBreakpoint or DataBreakpoint."""
        place = self.location
        asked: dict[str, Any] = {"line": place.line} if place.path else {"name": place.function}
        if place.mode:
            asked["mode"] = place.mode
        if place.address:
            asked = {"instructionReference": place.address}
        if place.watched:
            asked = {"dataId": self.data_id, "accessType": place.access}
        return asked | (self.when if self.once is None else self.once).to_dap()

    @property
    def place(self) -> str:
        """Where it is now: a breakpoint on a line without code moves to the next line that has some."""
        answer, location = self.answer, self.location
        if answer is None or answer.line is None:
            return str(location)
        path = location.path or (answer.source.path if answer.source else None)
        at = f"{display_path(path)}:{answer.line}" if path else str(location)
        if location.address:
            return f"{location} ({at})"
        return f"{at} (mode {location.mode})" if location.mode else at

    @property
    def state(self) -> str:
        """`disabled`, `verified` (its line can be hit) or `pending` (not yet known, or not yet)."""
        if not self.enabled:
            return "disabled"
        return "verified" if self.answer is not None and self.answer.verified else "pending"

    @property
    def message(self) -> str:
        """The adapter's sentence about it: why it cannot hit, where it moved; "" when there is nothing to say."""
        return (self.answer.message or "") if self.answer is not None and self.enabled else ""

    @property
    def has_stopped(self) -> bool:
        """Also before the client has heard of the stop."""
        return bool(self.hits) or HAS_STOPPED in self.message

    def __str__(self) -> str:
        """`breakpoint 1 at model.py:12 if x > 3 (verified)`, and the adapter's sentence below; `watch 2 on x`."""
        kind = "temporary breakpoint" if self.temporary else "logpoint" if self.when.log_message else "breakpoint"
        when = str(self.when)
        if self.once is not None:
            when += f", once{str(self.once) or ' without condition'}"
        message = f"\n    {self.message}" if self.message else ""
        if self.location.watched:
            watch = {"write": "watch", "read": "rwatch", "readWrite": "awatch"}[self.location.access]
            return f"{watch} {self.number} on {self.location}{when} ({self.state}){message}"
        return f"{kind} {self.number} at {self.place}{when} ({self.state}){message}"


class Breakpoints:
    """All of them, in the order they were set."""

    def __init__(self) -> None:
        self._all: dict[int, UserBreakpoint] = {}
        self._next = 1

    def __iter__(self) -> Iterator[UserBreakpoint]:
        return iter(list(self._all.values()))

    def __len__(self) -> int:
        return len(self._all)

    def add(self, location: Location, when: When = ALWAYS, temporary: bool = False) -> UserBreakpoint:
        """The one already there is changed rather than doubled; a temporary one lets it be as it was afterwards."""
        for old in self:
            if old.location == location:
                if temporary and not old.temporary and old.enabled:
                    old.once = when
                else:
                    old.when, old.temporary, old.enabled, old.once = when, temporary, True, None
                return old
        new = UserBreakpoint(self._next, location, when, temporary)
        self._all[new.number] = new
        self._next += 1
        return new

    def at(self, location: Location) -> UserBreakpoint | None:
        """The one there."""
        return next((one for one in self if one.location == location), None)

    def get(self, number: int) -> UserBreakpoint | None:
        return self._all.get(number)

    def used(self, breakpoint: UserBreakpoint) -> bool:
        """After a stop at it: whether what was for one stop only is gone now, and the adapter has to hear of it."""
        changed = breakpoint.temporary or breakpoint.once is not None
        breakpoint.once = None
        if breakpoint.temporary:
            self.remove(breakpoint)
        return changed

    def remove(self, breakpoint: UserBreakpoint) -> None:
        self._all.pop(breakpoint.number, None)

    def groups(self) -> list[Group]:
        """Each that has a breakpoint, enabled or not."""
        return list(dict.fromkeys(one.location.group for one in self))

    def in_group(self, group: Group) -> list[UserBreakpoint]:
        """The enabled ones that one DAP request sets."""
        return [one for one in self if one.enabled and one.location.group == group]

    def forget_answers(self) -> None:
        """A new run of the program has its own ids and hits."""
        for one in self:
            one.answer, one.hits = None, 0

    def hit(self, ids: list[int]) -> list[UserBreakpoint]:
        """Those the adapter's ids of a stop belong to."""
        return [one for one in self if one.answer is not None and one.answer.id in ids]

    def changed(self, answer: Breakpoint) -> UserBreakpoint | None:
        """File the adapter's news of a breakpoint; the one it belongs to, if it is ours."""
        for one in self.hit([answer.id]):
            one.answer = answer
            return one
        return None
