"""Find where the ranks of a launch part that have ended, one of them by an error or from outside."""

from __future__ import annotations

from pathlib import Path

from dynascope.agent.ranks.called_partings import CalledParting, divergence, explained, members_of, partings
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
            fact = divergence(parting, each.rank.rank, left, members_of(parting.group, groups))
            fact = _explained(fact, parting, ranks, each)
            return (each.rank.rank, fact) if fact.line else None
    return None


def _explained(fact: Divergence, parting: CalledParting, ranks: list[EndedRank], own: EndedRank) -> Divergence:
    other = next(each for each in ranks if each.rank.rank == parting.rank)
    frames = [*reversed(parting.ours.stack), *reversed(parting.theirs.stack)]
    pairs = pairs_at(unpacked(own.newest), unpacked(other.newest), frames)
    waits = parting.waits(own.calls, {other.rank.rank: other.calls})
    return explained(fact, pairs, parting, own.rank.rank, (own.values, other.values) if waits else None)
