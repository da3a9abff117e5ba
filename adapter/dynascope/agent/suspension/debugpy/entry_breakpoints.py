"""Breakpoints of ours that pydevd serves, beside those of the client: at the entry of generated code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dynascope.agent.suspension.interface import EntryBreakpoint
from dynascope.wire.dap import FIRST_ENTRY_ID


class EntryBreakpoints:
    """Kept in pydevd's own table, which forgets those of a file whenever the client sets any there."""

    def __init__(self, debugger: Any, api: Any) -> None:
        """`api` is the class whose instances serve the client's requests; every one is asked anew for ours."""
        self._debugger, self._api = debugger, api()
        self._placed: list[tuple[int, EntryBreakpoint]] = []

    def place(self, wanted: Sequence[EntryBreakpoint]) -> set[int]:
        """These, and none of those before. Returns the ids of those in files that pydevd is not to stop in."""
        for number, before in self._placed:
            self._api.remove_breakpoint(self._debugger, before.path, "python-line", number)
        # one for each line is all that pydevd keeps
        distinct = {(each.path, each.line): each for each in reversed(wanted)}.values()
        self._placed = [(FIRST_ENTRY_ID + (n << 20) + each.id, each) for n, each in enumerate(distinct)]
        return self.place_again()

    def place_again(self) -> set[int]:
        """The client has set breakpoints: pydevd may have forgotten ours."""
        refused = set()
        for number, each in self._placed:
            answer = self._api.add_breakpoint(
                self._debugger,
                each.path,
                "python-line",
                number,
                each.line,
                each.condition,
                "None",
                None,
                "ALL",
                None,
                False,
            )
            if answer.error_code:
                refused.add(each.id)
        return refused
