"""Find two ranks that wait for each other in sends and receives, as the stages of a pipeline may."""

from __future__ import annotations

from collections.abc import Iterable

from dynascope.facts.comparison.called import Called, CalledInGroup

EXCHANGES = "sends and receives"
"""In place of a process group: the sends and receives of a rank, by order."""


def direction(group: str, source: int, destination: int) -> str:
    """Return the name of the way from one rank to another in a process group, the same in both."""
    return f"{group}:{source}>{destination}"


def waiting_for_each_other(
    ours: CalledInGroup, theirs: CalledInGroup, ranks: tuple[int, int]
) -> tuple[Called, Called] | None:
    """Return the sends or receives in which two ranks wait, if each waits for the other.

    Each is the latest of a rank that waits in it (`is_counted`), and the other has called no partner for it.
    """
    if not (ours.is_counted and theirs.is_counted and ours.calls and theirs.calls):
        return None
    last, other = ours.calls[-1], theirs.calls[-1]
    are_between = all(_is_between(each, ranks) for each in (last, other))
    is_open = not (_has_partner(last, theirs.calls) or _has_partner(other, ours.calls))
    return (last, other) if are_between and is_open else None


def first_unlike(ours: CalledInGroup, theirs: CalledInGroup, ranks: tuple[int, int]) -> tuple[Called, Called] | None:
    """Return the first send whose receive takes a tensor of another size; None without such."""
    partners = {each.place: each for each in theirs.calls}
    of_both = ((each, partners.get(each.place)) for each in ours.calls if _is_between(each, ranks))
    return next(((our, their) for our, their in of_both if their is not None and our.takes != their.takes), None)


def _is_between(called: Called, ranks: tuple[int, int]) -> bool:
    way = called.place[0].rpartition(":")[2]
    return way in (f"{ranks[0]}>{ranks[1]}", f"{ranks[1]}>{ranks[0]}")


def _has_partner(called: Called, calls: Iterable[Called]) -> bool:
    """Whether the other rank has called as many on the same way; the first is at place 0."""
    return any(each.place[0] == called.place[0] and each.place[1] >= called.place[1] for each in calls)
