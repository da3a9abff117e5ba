"""The user's breakpoints and exception filters: numbered here, kept across restarts, and sent in groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from dynascope.terminal.locations import ALWAYS, Group, Location, When, display_path
from dynascope.wire.beyond_dap import HAS_STOPPED
from dynascope.wire.dap import Breakpoint, ExceptionBreakpointsFilter

WATCHING = {"write": "watch", "read": "rwatch", "readWrite": "awatch"}
"""The commands that set a data breakpoint, by the kind of access."""


@dataclass
class UserBreakpoint:
    """One breakpoint of the user, and the adapter's `answer` about it (None before there is one).

    `once` is the When of a `tbreak` at the same place, which replaces `when` until the next stop there.
    `data_id` is the adapter's name for the value watched; "" before it is known.
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
        """Return it as a DAP breakpoint of its kind."""
        place = self.location
        fields: dict[str, Any] = {"line": place.line} if place.path else {"name": place.function}
        if place.mode:
            fields["mode"] = place.mode
        if place.address:
            fields = {"instructionReference": place.address}
        if place.watched:
            fields = {"dataId": self.data_id, "accessType": place.access}
        return fields | (self.when if self.once is None else self.once).to_dap()

    @property
    def place(self) -> str:
        """Return its place; from a line without code it has moved to the next line that has code."""
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
        """Return `disabled`, `verified` (it can be hit) or `pending` (not yet, or unknown)."""
        if not self.enabled:
            return "disabled"
        return "verified" if self.answer is not None and self.answer.verified else "pending"

    @property
    def message(self) -> str:
        """Return the adapter's message: why it cannot be hit, or where it moved; "" for none."""
        return (self.answer.message or "") if self.answer is not None and self.enabled else ""

    @property
    def has_stopped(self) -> bool:
        """Whether the program has stopped at it, even if `stopped` has not arrived yet."""
        return bool(self.hits) or HAS_STOPPED in self.message

    def __str__(self) -> str:
        """Return `breakpoint 1 at model.py:12 if x > 3 (verified)` or the like, and its message."""
        kind = "temporary breakpoint" if self.temporary else "logpoint" if self.when.log_message else "breakpoint"
        when = str(self.when)
        if self.once is not None:
            when += f", once{str(self.once) or ' without condition'}"
        message = f"\n    {self.message}" if self.message else ""
        if self.location.watched:
            return f"{WATCHING[self.location.access]} {self.number} on {self.location}{when} ({self.state}){message}"
        return f"{kind} {self.number} at {self.place}{when} ({self.state}){message}"


class Breakpoints:
    """Hold all breakpoints, in the order in which they were set."""

    def __init__(self) -> None:
        self._all: dict[int, UserBreakpoint] = {}
        self._next = 1

    def __iter__(self) -> Iterator[UserBreakpoint]:
        return iter(list(self._all.values()))

    def __len__(self) -> int:
        return len(self._all)

    def add(self, location: Location, when: When = ALWAYS, temporary: bool = False) -> UserBreakpoint:
        """Add a breakpoint, or change the one there; a temporary one changes it for one stop."""
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
        """Return the breakpoint at that location; None when there is none."""
        return next((breakpoint for breakpoint in self if breakpoint.location == location), None)

    def get(self, number: int) -> UserBreakpoint | None:
        return self._all.get(number)

    def used(self, breakpoint: UserBreakpoint) -> bool:
        """End its one-stop settings after a stop; return whether to send it to the adapter again."""
        changed = breakpoint.temporary or breakpoint.once is not None
        breakpoint.once = None
        if breakpoint.temporary:
            self.remove(breakpoint)
        return changed

    def remove(self, breakpoint: UserBreakpoint) -> None:
        self._all.pop(breakpoint.number, None)

    def groups(self) -> list[Group]:
        """Return the groups that have a breakpoint, enabled or not."""
        return list(dict.fromkeys(breakpoint.location.group for breakpoint in self))

    def in_group(self, group: Group) -> list[UserBreakpoint]:
        """Return the enabled breakpoints that one DAP request sets."""
        return [breakpoint for breakpoint in self if breakpoint.enabled and breakpoint.location.group == group]

    def forget_answers(self) -> None:
        """Forget ids and hits: a new run of the program has its own."""
        for breakpoint in self:
            breakpoint.answer, breakpoint.hits = None, 0

    def hit(self, ids: list[int]) -> list[UserBreakpoint]:
        """Return the breakpoints of the adapter's ids."""
        return [breakpoint for breakpoint in self if breakpoint.answer is not None and breakpoint.answer.id in ids]

    def changed(self, answer: Breakpoint) -> UserBreakpoint | None:
        """Store the adapter's new state of a breakpoint; return it, or None if it is unknown."""
        for breakpoint in self.hit([answer.id]):
            breakpoint.answer = answer
            return breakpoint
        return None


class Catching:
    """The user's choice, kept across restarts, and before the adapter's filters are known."""

    def __init__(self) -> None:
        self._chosen: dict[str, str | None] = {}
        self._off: set[str] = set()
        self._defaults = True

    def switch_on(self, name: str, condition: str | None = None) -> None:
        """Switch a filter on, with a condition (None: always true)."""
        self._off.discard(name)
        self._chosen[name] = condition

    def switch_off(self, name: str) -> None:
        self._chosen.pop(name, None)
        self._off.add(name)

    def switch_all_off(self) -> None:
        self._chosen.clear()
        self._defaults = False

    def forget(self) -> None:
        """Forget the choice: the filters have the adapter's defaults again."""
        self._chosen.clear()
        self._off.clear()
        self._defaults = True

    def chose(self, name: str) -> bool:
        """Whether the user has switched it on."""
        return name in self._chosen

    def on(self, known: Iterable[ExceptionBreakpointsFilter]) -> dict[str, str | None]:
        """Return the filters that are on, with their conditions."""
        defaults = {one.filter: None for one in known if one.default and self._defaults and one.filter not in self._off}
        return defaults | self._chosen
