"""Find where the ranks of a launch part that have ended, one of them by an error or from outside."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import combinations, permutations, takewhile
from pathlib import Path

from msgspec import structs

from dynascope.agent.ranks.called_partings import CalledParting, latest, members_of, partings, told
from dynascope.explain import divergences
from dynascope.explain.plain_differences import skipped_before
from dynascope.explain.rank_differences import compiled_apart
from dynascope.facts.comparison.called import CalledInGroup, first_at_other_lines, first_reordered
from dynascope.facts.comparison.newest_calls import NewestCall, PairOfCalls, called_in_graph, pairs_at, unpacked
from dynascope.facts.comparison.plain_branch import ValuesAt
from dynascope.facts.comparison.plain_operands import decides_elements
from dynascope.facts.comparison.plain_reads import elements_read
from dynascope.facts.comparison.ranks import PartName
from dynascope.facts.ended_ranks import EndedRank, compiled_by, read_ended
from dynascope.facts.model import Divergence
from dynascope.rank_names import ranks_text


def parted(folder: Path, has_aborted: bool = False) -> tuple[int, Divergence] | None:
    """Return a rank that parts from others, and the fact.

    None where no rank parts, or a rank has told it. `has_aborted`: whether a rank was ended by SIGABRT, as gloo does it
    where collectives do not fit together.
    """
    ranks = read_ended(folder)
    if all(each.has_ended for each in ranks):
        return _by_order(ranks)
    found = _by_calls(ranks)
    is_of_collective = has_aborted or any(each.error == "collective" for each in ranks)
    if found is None and is_of_collective and any(each.reduction is not None for each in ranks):
        found = _by_calls([_with_reduction(each) for each in ranks])
    if found is not None:
        return found if found[1].line else None
    return _by_compiles(folder, ranks) or _by_graphs(folder, ranks) if is_of_collective else None


def _by_calls(ranks: Sequence[EndedRank]) -> tuple[int, Divergence] | None:
    """Return where two ranks part by the collectives that they have called."""
    groups = {name: members for each in ranks for name, members in each.rank.groups.items()}
    left = {each.rank.rank: each.calls for each in ranks}
    for each in ranks:
        others = {rank: calls for rank, calls in left.items() if rank != each.rank.rank}
        parting = next(partings(each.rank.rank, each.calls, others, groups), None)
        if parting is not None:
            other = next(one for one in ranks if one.rank.rank == parting.rank)
            newest = unpacked(each.newest), unpacked(other.newest)
            members = members_of(parting.group, groups)
            fact = told(parting, each.rank.rank, (each.calls, left), newest, (each.values, other.values), members)
            return each.rank.rank, fact
    return None


def _by_order(ranks: Sequence[EndedRank]) -> tuple[int, Divergence] | None:
    """Return where two ranks go through the elements of a loop in other orders."""
    for rank, other in combinations(ranks, 2):
        for group in sorted({*rank.calls} & {*other.calls}):
            calls = rank.calls[group], other.calls[group]
            reordered = first_reordered(*calls, lambda frame: elements_read(frame.path, frame.line))
            for pair in filter(None, (first_at_other_lines(*calls), reordered)):
                both = takewhile(lambda lines: lines[0] == lines[1], zip(pair[0].stack, pair[1].stack, strict=False))
                common = [line for line, _ in both]
                decides = decides_elements(common[-1], pair[0].is_of_parameter) if common else None
                if decides is None and pair[0].stack != pair[1].stack:
                    continue  # ranks may take turns
                numbers = str(rank.rank.rank), str(other.rank.rank)
                return rank.rank.rank, divergences.other_elements(*pair, numbers, decides)
    return None


def _by_graphs(folder: Path, ranks: Sequence[EndedRank]) -> tuple[int, Divergence] | None:
    """Return where a rank runs a function uncompiled of which another was in a graph.

    What graphs call is not written as they call it.
    """
    left = {each.rank.rank: each.calls for each in ranks}
    groups = {each.rank.rank: each.rank.groups for each in ranks}
    for rank, other in permutations(ranks, 2):
        newest = compiled_by(folder, other.rank.rank)
        for group in _common(groups, rank.rank.rank, other.rank.rank):
            calls = (side.calls[group].calls if group in side.calls else [] for side in (rank, other))
            ours, theirs = (latest(each) if each else None for each in calls)
            if ours is None or (theirs is not None and theirs.place >= ours.place) or other.has_ended:
                continue
            graph = called_in_graph(ours, group, newest)
            if graph is not None:
                parting = CalledParting(group, other.rank.rank, ours, graph, True)
                values = rank.values, [ValuesAt(group, ours.place, [])]
                members = members_of(group, rank.rank.groups)
                return rank.rank.rank, told(parting, rank.rank.rank, (rank.calls, left), ([], []), values, members)
    return None


def _with_reduction(rank: EndedRank) -> EndedRank:
    """Return a rank with what DistributedDataParallel was to reduce as its last collective.

    It only counts where nothing else differs: ranks that have no more batches may join others without such
    (`torch.distributed.algorithms.Join`, 1.10).
    """
    if rank.reduction is None:
        return rank
    group, called = rank.reduction
    own = rank.calls.get(group, CalledInGroup(True, []))
    calls = {**rank.calls, group: CalledInGroup(own.is_counted, [*own.calls, called], own.begun)}
    return structs.replace(rank, calls=calls)


def _by_compiles(folder: Path, ranks: Sequence[EndedRank]) -> tuple[int, Divergence] | None:
    """Return where the newest compiles of two ranks part.

    None where a rank has failed by itself.
    """
    if any(each.error == "other" for each in ranks):
        return None
    groups = {each.rank.rank: each.rank.groups for each in ranks}
    made = {each.rank.rank: compiled_by(folder, each.rank.rank) for each in ranks}
    found: list[tuple[bool, float, int, int, PairOfCalls]] = []
    for rank, other in combinations(sorted(made), 2):
        for pair in pairs_at(made[rank], made[other], []):
            if compiled_apart(pair, (rank, other), (str(rank), str(other)), _common(groups, rank, other)) is not None:
                latest = max(each.compile.began for side in pair[:2] for each in side)
                found.append((not pair.is_behind, latest, rank, other, pair))
    if not found:
        return None
    # a rank that was killed may not have compiled it again yet
    *_, rank, other, pair = max(found, key=lambda each: each[:2])
    name, common = pair.ours[0].name, _common(groups, rank, other)
    sides = [
        (number, [each for each in made if _called(made[each], name, common) == _called(made[number], name, common)])
        for number in (rank, other)
    ]
    if sides[0][1] == sides[1][1]:  # they differ in what they split
        sides = [(number, [number]) for number in (rank, other)]
    if len(sides[0][1]) > len(sides[1][1]):
        sides, pair = sides[::-1], pair.turned()
    (few, ours), (many, theirs) = sides
    fact = compiled_apart(pair, (few, many), (ranks_text(ours), ranks_text(theirs)), common)
    if fact is None:
        return None
    skipped = skipped_before(pair.callers, pair.values, (few, many))
    if skipped is not None:
        at = {"path": skipped.path, "line": skipped.line, "stack": skipped.stack}
        fact = structs.replace(fact, difference=skipped.difference, **at)
    return few, fact


def _common(groups: Mapping[int, Mapping[str, tuple[int, ...]]], rank: int, other: int) -> dict[str, tuple[int, int]]:
    """Return the process groups to which two ranks belong, with their places there."""
    both = ((name, ranks) for name, ranks in groups[rank].items() if name in groups[other])
    return {name: (ranks.index(rank), ranks.index(other)) for name, ranks in both}


def _called(calls: Sequence[NewestCall], name: PartName, groups: Container[str]) -> object:
    """Return the collectives of the newest compiles of a function, and their parameters."""
    call = next((each for each in calls if each.name == name), None)
    if call is None:
        return None
    collectives = [each for part in call.parts for each in part.collectives if each.group in groups]
    return [(each.text, [(line.path, line.line) for line in each.stack]) for each in collectives], call.gradients
