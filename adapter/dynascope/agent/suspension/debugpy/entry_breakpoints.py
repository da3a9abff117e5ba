"""Place Dynascope's breakpoints in pydevd, at the entry of generated code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dynascope.agent.suspension.interface import EntryBreakpoint
from dynascope.wire.beyond_dap import FIRST_ENTRY_ID


class EntryBreakpoints:
    """Entry breakpoints in pydevd's table, which drops them when the client sets its own."""

    def __init__(self, debugger: Any, api: Any) -> None:
        """Create an instance of `api`, the class whose instances serve the client's requests."""
        self._debugger, self._api = debugger, api()
        self._placed: list[tuple[int, EntryBreakpoint]] = []

    def place(self, breakpoints: Sequence[EntryBreakpoint]) -> set[int]:
        """Replace all entry breakpoints; return the ids of those where pydevd does not stop."""
        for number, before in self._placed:
            self._api.remove_breakpoint(self._debugger, before.path, "python-line", number)
        # pydevd keeps only one breakpoint for each line
        distinct = {(entry.path, entry.line): entry for entry in reversed(breakpoints)}.values()
        self._placed = [(FIRST_ENTRY_ID + (n << 20) + entry.id, entry) for n, entry in enumerate(distinct)]
        return self.place_again()

    def place_again(self) -> set[int]:
        """Place the breakpoints again after the client has set some: pydevd may have dropped these."""
        refused = set()
        for number, entry in self._placed:
            answer = self._api.add_breakpoint(
                self._debugger,
                entry.path,
                "python-line",
                number,
                entry.line,
                entry.condition,
                "None",
                None,
                "ALL",
                None,
                False,
            )
            if answer.error_code:
                refused.add(entry.id)
        return refused
