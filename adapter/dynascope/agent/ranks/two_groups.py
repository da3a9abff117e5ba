"""Find ranks that wait for each other in collectives of two process groups, and tell which one each is in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import structs

from dynascope.explain import divergences
from dynascope.explain.plain_differences import plain_difference
from dynascope.facts.comparison.called import Called, CalledInGroup, waiting_in_two_groups
from dynascope.facts.comparison.plain_branch import FrameValues, ValuesAt
from dynascope.facts.model import Divergence
from dynascope.rank_names import ranks_text

_NOTHING = CalledInGroup(True, [])


class WaitingInTwoGroups(NamedTuple):
    """This rank waits in one group for another rank, which waits for this one in another group."""

    group: str
    rank: int
    other_group: str
    ours: Called
    theirs: Called


def waiting_for(
    own: Mapping[str, CalledInGroup],
    left: Mapping[int, Mapping[str, CalledInGroup]],
    groups: Mapping[str, Sequence[int]],
) -> Iterator[WaitingInTwoGroups]:
    """Yield the ranks that wait so.

    `own` is what this rank has called, `left` what others have, by rank and group, and `groups` are this rank's.
    """
    group = _only_one(own)
    for rank, of_rank in left.items() if group in groups else ():
        other = _only_one(of_rank)
        is_of_both = group is not None and other is not None and rank in groups[group] and rank in groups.get(other, ())
        if group is None or other is None or group == other or not is_of_both:
            continue
        theirs = of_rank.get(group, _NOTHING), of_rank[other]
        found = waiting_in_two_groups(own[group], theirs[0], (own.get(other, _NOTHING), theirs[1]))
        if found is not None:
            yield WaitingInTwoGroups(group, rank, other, *found)


def _only_one(called: Mapping[str, CalledInGroup]) -> str | None:
    """Return the group in which a rank waits.

    None where there are several: it is not known for which it waits then.
    """
    waiting = [name for name, each in called.items() if each.waits]
    return waiting[0] if len(waiting) == 1 else None


def told_of_two_groups(
    waiting: WaitingInTwoGroups,
    own_rank: int,
    left: Mapping[int, Mapping[str, CalledInGroup]],
    groups: Mapping[str, Sequence[int]],
    values: tuple[Sequence[ValuesAt], Sequence[ValuesAt]],
) -> Divergence:
    """Return the fact, with what plain Python reads where both ranks wait.

    `values` are those of this rank and of the other.
    """
    sides = (
        (waiting.ours, _in_it(waiting.group, waiting.ours, left) | {own_rank}, groups[waiting.group]),
        (
            waiting.theirs,
            _in_it(waiting.other_group, waiting.theirs, left) | {waiting.rank},
            groups[waiting.other_group],
        ),
    )
    few, many = sorted(sides, key=lambda side: len(side[1]))
    calls = [(each, ranks_text(sorted(ranks)), ranks_text(members)) for each, ranks, members in (few, many)]
    fact = divergences.in_two_groups(calls[0], calls[1])
    frames = _frames_now(values[0]), _frames_now(values[1])
    stacks = waiting.ours.stack, waiting.theirs.stack
    found = plain_difference(stacks, frames, (own_rank, waiting.rank))
    if found is None:
        return fact
    return structs.replace(fact, path=found.path, line=found.line, stack=found.stack, difference=found.difference)


def _in_it(group: str, called: Called, left: Mapping[int, Mapping[str, CalledInGroup]]) -> set[int]:
    """Return the ranks that wait in a collective."""
    return {
        rank
        for rank, of_rank in left.items()
        if (there := of_rank.get(group, _NOTHING)).waits and there.begun[-1].number == called.number
    }


def _frames_now(values: Sequence[ValuesAt]) -> Sequence[FrameValues]:
    return next((each.frames for each in values if each.place is None), [])
