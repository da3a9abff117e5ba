"""The exception filters that the user has switched; the others have the adapter's default."""

from __future__ import annotations

from collections.abc import Iterable

from dynascope.wire.dap import ExceptionBreakpointsFilter


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


def parse(text: str) -> tuple[str, str]:
    """Split `graphBreak GB0059, my code` into the filter and its condition, "off" or ""."""
    name, _, rest = text.strip().partition(" ")
    return name, rest.strip()
