"""Find where ranks part by the collectives that they have called, and explain it by their newest compiles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import NamedTuple

from msgspec import structs

from dynascope.explain import divergences
from dynascope.explain.plain_differences import plain_difference
from dynascope.explain.rank_differences import newest_difference
from dynascope.explain.wrapper_differences import ddp_difference, fsdp_difference
from dynascope.facts.comparison.called import (
    Called,
    CalledInGroup,
    first_begun_apart,
    first_difference,
    first_reduced_apart,
    first_unmatched_splits,
)
from dynascope.facts.comparison.newest_calls import (
    NewestCall,
    PairOfCalls,
    lines_in_graph,
    pairs_at,
    unmatched_pairs,
)
from dynascope.facts.comparison.peer_exchanges import EXCHANGES, first_unlike, waiting_for_each_other
from dynascope.facts.comparison.plain_branch import EarlierCall, FrameValues, PairOfValues, ValuesAt
from dynascope.facts.comparison.ranks import Collective
from dynascope.facts.model import Divergence
from dynascope.rank_names import ranks_text


def members_of(group: str, groups: Mapping[str, Sequence[int]]) -> str:
    """Return the ranks of one of several process groups, `0, 2-7`; "" for the only one."""
    return ranks_text(groups[group]) if len(groups) > 1 and group in groups else ""


class CalledParting(NamedTuple):
    """The collectives at which this rank and another part."""

    group: str
    rank: int
    ours: Called
    theirs: Called
    is_uncompiled: bool
    """Whether both call it uncompiled; else one in a graph or in C++ may be among them."""
    reduced: tuple[Called, Called] | None = None
    """The forwards before, in other rounds of a loop, after which DistributedDataParallel reduces gradients."""

    @property
    def cause(self) -> CalledParting:
        """Return where plain Python parts the ranks: mostly where they call these."""
        if self.reduced is None:
            return self
        return self._replace(ours=self.reduced[0], theirs=self.reduced[1], is_uncompiled=True)

    def values(
        self,
        calls: tuple[Mapping[str, CalledInGroup], Mapping[int, Mapping[str, CalledInGroup]]],
        values: tuple[Sequence[ValuesAt], Sequence[ValuesAt]],
    ) -> PairOfValues | None:
        """Return the values of both ranks as they called these; None if one is unknown."""
        sides = calls[0][self.group], calls[1].get(self.rank, {}).get(self.group)
        ours, theirs = (
            self._values(called, side, of_side)
            for called, side, of_side in zip((self.ours, self.theirs), sides, values, strict=True)
        )
        return None if ours is None or theirs is None else (ours, theirs)

    def _values(
        self, called: Called, side: CalledInGroup | None, values: Sequence[ValuesAt]
    ) -> Sequence[FrameValues] | None:
        """Return the values of a rank as it called one; where it was the last one, those of its end."""
        place = self._place_of_values(called)
        at = next((each for each in reversed(values) if (each.group, each.place) == (self.group, place)), None)
        known = self.of(side) if side is not None else []
        last = latest(known) if known else None
        # one call may begin several, as that of all buffers of a module does
        is_last = last is not None and (last.place == called.place or bool(called.stack and last.stack == called.stack))
        if at is None and is_last:
            at = next((each for each in values if each.place is None), None)
        return ([] if is_last else None) if at is None else at.frames

    def _place_of_values(self, called: Called) -> tuple[str, int, int]:
        """Return the place at which values are kept; that of a compiled one counts it, too."""
        backend, number, since = called.place
        return (backend, number, since) if self.is_uncompiled else (backend, number - 1, 0)

    def before(
        self,
        calls: tuple[Mapping[str, CalledInGroup], Mapping[int, Mapping[str, CalledInGroup]]],
        values: tuple[Sequence[ValuesAt], Sequence[ValuesAt]],
    ) -> EarlierCall:
        """Return the collective that both ranks have called before."""
        own, other = calls[0][self.group], calls[1].get(self.rank, {}).get(self.group)
        ours = [each for each in own.calls if each.place <= self.ours.place]
        theirs = [each for each in other.calls if each.place <= self.theirs.place] if other is not None else []
        reduced = own.reduced, other.reduced if other is not None else []
        earlier = [each for each in ours if each.place < self.ours.place and each.stack]
        known = [{each.place: each.frames for each in side if each.group == self.group} for side in values]
        first = min(map(self._place_of_values, (self.ours, self.theirs)))
        places = [each for each in known[0] if each is not None and each in known[1] and each < first]
        read = (known[0][max(places)], known[1][max(places)]) if places else ((), ())
        if not earlier:
            return EarlierCall(values=read, calls=(ours, theirs), reduced=reduced)
        last = earlier[-1]
        is_anew = self.ours.is_anew_since(last), self.theirs.is_anew_since(last)
        return EarlierCall(last.stack, read, is_anew, (ours, theirs), reduced)

    def of(self, rank: CalledInGroup) -> list[Called]:
        """Return the collectives of a rank among which these are."""
        return rank.calls if self.is_uncompiled else rank.begun


def latest(calls: Sequence[Called]) -> Called:
    """Return the last collective, or the end of a rank that has called none."""
    return next((each for each in reversed(calls) if not each.is_end), calls[-1])


def placed_in_graphs(parting: CalledParting, ours: Sequence[NewestCall], theirs: Sequence[NewestCall]) -> CalledParting:
    """Return where ranks part, with the lines at which graphs call the collectives.

    `ours` and `theirs` are the newest calls of both ranks.
    """
    if parting.is_uncompiled:
        return parting
    placed = (
        structs.replace(called, stack=tuple(lines_in_graph(called.stack, called.operation, calls)))
        for called, calls in ((parting.ours, ours), (parting.theirs, theirs))
    )
    our, their = placed
    return parting._replace(ours=our, theirs=their)


def partings(
    own_rank: int,
    own: Mapping[str, CalledInGroup],
    left: Mapping[int, Mapping[str, CalledInGroup]],
    groups: Mapping[str, tuple[int, ...]],
) -> Iterator[CalledParting]:
    """Yield where this rank and each other part, in each of their process groups.

    `own` is what this rank has called, `left` what other ranks have called, by rank and group.
    """
    for group, ours in own.items():
        for rank in groups.get(group, ()):
            theirs = left.get(rank, {}).get(group)
            if theirs is None:
                continue
            for find, is_uncompiled in ((first_difference, True), (first_begun_apart, False)):
                if (found := find(ours, theirs)) is not None:
                    yield CalledParting(group, rank, *found, is_uncompiled, first_reduced_apart(ours, theirs))
            places = groups[group].index(own_rank), groups[group].index(rank)
            if (found := first_unmatched_splits(ours, theirs, places)) is not None:
                yield CalledParting(group, rank, *found, True)
    yield from _partings_of_exchanges(own_rank, own, left)


def _partings_of_exchanges(
    own_rank: int, own: Mapping[str, CalledInGroup], left: Mapping[int, Mapping[str, CalledInGroup]]
) -> Iterator[CalledParting]:
    """Yield where sends and receives between this rank and another do not fit together."""
    for rank, of_rank in left.items():
        sides = own.get(EXCHANGES), of_rank.get(EXCHANGES)
        if sides[0] is not None and sides[1] is not None and rank != own_rank:
            for find_exchange in (first_unlike, waiting_for_each_other):
                if (found := find_exchange(sides[0], sides[1], (own_rank, rank))) is None:
                    continue
                yield CalledParting(EXCHANGES, rank, *found, True)


def divergence(
    parting: CalledParting, rank: int, left: Mapping[int, Mapping[str, CalledInGroup]], members: str
) -> Divergence:
    """Return the fact, with the smaller side first."""
    sides: list[tuple[Called, set[int]]] = [(parting.ours, {rank}), (parting.theirs, {parting.rank})]
    for other, groups in left.items():
        calls = parting.of(groups[parting.group]) if parting.group in groups else []
        at = next((each for each in calls if each.place == parting.ours.place), None)
        for called, ranks in sides:
            is_alike = at is not None and at.text == called.text and at.other_round(called) is None
            if at is not None and is_alike and (at.stack == called.stack or not parting.is_uncompiled):
                ranks.add(other)
    if parting.is_uncompiled:
        sides = [(_placed(called, parting.group, left, ranks), ranks) for called, ranks in sides]
    (few, ours), (many, theirs) = (
        (ranks_text(ranks), call) for call, ranks in sorted(sides, key=lambda it: (len(it[1]), min(it[1])))
    )
    return divergences.at_run_time(ours, theirs, parting.group, (few, many), parting.is_uncompiled, members)


def told(
    parting: CalledParting,
    rank: int,
    calls: tuple[Mapping[str, CalledInGroup], Mapping[int, Mapping[str, CalledInGroup]]],
    newest: tuple[Sequence[NewestCall], Sequence[NewestCall]],
    values: tuple[Sequence[ValuesAt], Sequence[ValuesAt]],
    members: str,
) -> Divergence:
    """Return the fact of where this rank and another part, with its cause as far as it is known.

    `calls` are those of this rank and, by rank, of others; `newest` and `values` are those of this rank and of the
    other; `members` as in `divergences.other_collective`.
    """
    read = parting.cause.values(calls, values)
    before = parting.cause.before(calls, values)
    parting = placed_in_graphs(parting, *newest)
    frames = [*reversed(parting.ours.stack), *reversed(parting.theirs.stack)]
    fact = divergence(parting, rank, calls[1], members)
    if parting.reduced is not None and (rounds := parting.cause.ours.other_round(parting.cause.theirs)) is not None:
        reduced = divergences.other_reductions(rounds, (rank, parting.rank))
        fact = structs.replace(fact, collectives=f"{reduced} {fact.collectives}")
    pairs = pairs_at(*newest, frames), unmatched_pairs(*newest, parting.group, frames)
    return explained(fact, pairs, parting, rank, (read, before) if read is not None else None)


def explained(
    fact: Divergence,
    pairs: tuple[Iterable[PairOfCalls], Iterable[PairOfCalls]],
    parting: CalledParting,
    rank: int,
    waiting: tuple[PairOfValues, EarlierCall] | None,
) -> Divergence:
    """Return the fact with where compiles of a function part, or plain Python.

    Earlier compiles than the newest come last, unless plain Python is not proven to part the ranks. `pairs` are those
    of the newest, and of earlier ones. `waiting` has the values that plain Python reads in both ranks, and what both
    have called before; None where they do not wait there.
    """
    called = [
        Collective(each.operation, parting.group, each.takes, stack=each.stack)
        for each in (parting.ours, parting.theirs)
    ]
    numbers = rank, parting.rank
    ours, theirs = parting.cause.ours, parting.cause.theirs
    rounds = ours.other_round(theirs)
    newest, earlier = (
        (newest_difference(pair, numbers, (called[0], called[1])) for pair in of_kind) for of_kind in pairs
    )
    takes, are_stages = (parting.ours.takes, parting.theirs.takes), parting.group == EXCHANGES
    plain = (
        plain_difference(
            (ours.stack, theirs.stack), waiting[0], numbers, waiting[1], is_proven, takes, are_stages, rounds
        )
        for is_proven in (True, False)
        if waiting is not None
    )
    of_plain_code = islice(plain, 1)
    # of ranks that are in other rounds of a loop the newest compiles are not of one call
    differences = chain(*((newest, of_plain_code) if rounds is None else (of_plain_code, newest)), earlier, plain)
    found = next((each for each in differences if each is not None and each.difference), None)
    if found is None and waiting is not None:
        settings = fsdp_difference((parting.ours.takes, parting.theirs.takes), waiting[0], numbers)
        passed, at = ddp_difference(waiting[0], numbers) if not settings else ("", None)
        if at is not None:
            fact = structs.replace(fact, path=at.path, line=at.line, stack=[at])
        return structs.replace(fact, difference=settings or passed) if settings or passed else fact
    if found is None:
        return fact
    return structs.replace(fact, path=found.path, line=found.line, stack=found.stack, difference=found.difference)


def _placed(called: Called, group: str, left: Mapping[int, Mapping[str, CalledInGroup]], ranks: set[int]) -> Called:
    """Return a collective, with the lines of one before it where autograd calls it on a thread."""
    groups = [left[rank][group] for rank in ranks if group in left.get(rank, {})]
    before = [each for it in groups for each in it.calls if each.stack and each.place <= called.place]
    return called if called.stack or not before else structs.replace(called, stack=before[-1].stack)
