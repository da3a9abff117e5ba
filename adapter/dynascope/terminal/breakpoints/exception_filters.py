"""What the user chose of the adapter's exception filters; the others are on where the adapter says so."""

from __future__ import annotations

from collections.abc import Iterable

from dynascope.terminal.bodies import ExceptionFilter


class Catching:
    """Kept over restarts, and before the program first runs, when the adapter's filters are not known yet."""

    def __init__(self) -> None:
        self._chosen: dict[str, str | None] = {}
        self._off: set[str] = set()
        self._defaults = True

    def switch_on(self, name: str, condition: str | None = None) -> None:
        """Stop at what this filter is about, where the condition (None: always) holds."""
        self._off.discard(name)
        self._chosen[name] = condition

    def switch_off(self, name: str) -> None:
        self._chosen.pop(name, None)
        self._off.add(name)

    def switch_all_off(self) -> None:
        self._chosen.clear()
        self._defaults = False

    def forget(self) -> None:
        """What the adapter has on by default is on, and nothing else."""
        self._chosen.clear()
        self._off.clear()
        self._defaults = True

    def chose(self, name: str) -> bool:
        """Whether the user switched it on, and not the adapter by default."""
        return name in self._chosen

    def on(self, known: Iterable[ExceptionFilter]) -> dict[str, str | None]:
        """The filters that are on, and their conditions."""
        defaults = {one.filter: None for one in known if one.default and self._defaults and one.filter not in self._off}
        return defaults | self._chosen


def parse(text: str) -> tuple[str, str]:
    """`graphBreak GB0059, my code`: the filter, and its condition or "off", "" for neither."""
    name, _, rest = text.strip().partition(" ")
    return name, rest.strip()
