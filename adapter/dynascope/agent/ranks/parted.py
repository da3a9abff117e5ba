"""Tell the exception filter that this rank has compiled other collectives than other ranks."""

from __future__ import annotations

from collections.abc import Callable

from dynascope.facts.model import Divergence

Parted = Callable[[Divergence, bool], object]
"""Called with the fact, and whether this rank parts; else only other ranks do, which it meets in the same call."""
_subscribers: tuple[Parted, ...] = ()


class PartedRanks:
    """A subscription: `parted` is called at the end of the compile, on its thread."""

    def __init__(self, parted: Parted) -> None:
        global _subscribers
        self._parted = parted
        _subscribers = (*_subscribers, parted)

    def remove(self) -> None:
        """End the subscription."""
        global _subscribers
        _subscribers = tuple(each for each in _subscribers if each is not self._parted)


def is_wanted() -> bool:
    """Whether there is a subscriber."""
    return bool(_subscribers)


def tell(fact: Divergence, is_own: bool) -> None:
    """Call the subscribers."""
    for parted in _subscribers:
        parted(fact, is_own)
