"""Find where the ranks of a launch part that have ended, one of them by an error or from outside."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dynascope.agent.ranks.called_partings import (
    CalledParting,
    divergence,
    explained,
    members_of,
    partings,
    placed_in_graphs,
)
from dynascope.facts.comparison.called import CalledInGroup
from dynascope.facts.comparison.newest_calls import pairs_at, unpacked
from dynascope.facts.ended_ranks import EndedRank, read_ended
from dynascope.facts.model import Divergence


def parted(folder: Path) -> tuple[int, Divergence] | None:
    """Return a rank that parts from others, and the fact.

    None where no rank parts, or a rank has told it.
    """
    ranks = read_ended(folder)
    if all(each.has_ended for each in ranks):
        return None
    groups = {name: members for each in ranks for name, members in each.rank.groups.items()}
    left = {each.rank.rank: each.calls for each in ranks}
    for each in ranks:
        others = {rank: calls for rank, calls in left.items() if rank != each.rank.rank}
        parting = next(partings(each.calls, others, groups), None)
        if parting is not None:
            other = next(one for one in ranks if one.rank.rank == parting.rank)
            fact = _told(parting, each, other, left, members_of(parting.group, groups))
            return (each.rank.rank, fact) if fact.line else None
    return None


def _told(
    parting: CalledParting,
    own: EndedRank,
    other: EndedRank,
    left: Mapping[int, Mapping[str, CalledInGroup]],
    members: str,
) -> Divergence:
    waits = parting.waits(own.calls, left)
    newest = unpacked(own.newest), unpacked(other.newest)
    parting = placed_in_graphs(parting, *newest)
    frames = [*reversed(parting.ours.stack), *reversed(parting.theirs.stack)]
    fact = divergence(parting, own.rank.rank, left, members)
    reads = (own.values, other.values) if waits else None
    return explained(fact, pairs_at(*newest, frames), parting, own.rank.rank, reads)
