"""Compare the collectives that two ranks call at run time, and find the first that differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from msgspec import Struct, structs

from dynascope.facts.user_stack import UserFrame

Key = TypeVar("Key")
Groups = tuple["CalledInGroup", "CalledInGroup"]
Splits = tuple[tuple[int, ...], tuple[int, ...]]


class _Splitting(Protocol):
    """A collective, of a graph or of uncompiled code."""

    @property
    def operation(self) -> str: ...

    @property
    def splits(self) -> Splits: ...


Split = TypeVar("Split", bound=_Splitting)
DESTROYED = "destroy_process_group"
"""The operation of a rank that has destroyed a process group, in place of a collective."""
_KINDS = ("all_gather", "all_reduce", "all_to_all", "barrier", "broadcast", "gather", "reduce_scatter", "scatter")
TENSORS = "tensors"
"""The end of what a collective takes whose sizes may differ between ranks: `f32 tensors`."""
_OF_PARAMETER = " is the parameter "
ENDED = ""
"""The operation of a rank that has ended, in place of a collective."""


class Round(NamedTuple):
    """The round of a loop in which a frame is."""

    function: str
    name: str
    """The variable that counts the rounds."""
    number: int
    text: str
    """`step is 3`."""


class Called(Struct, frozen=True, array_like=True):
    """A collective that a rank has begun in a process group."""

    place: tuple[str, int, int]
    """The group's backend, how many collectives the rank had begun there, and how many uncompiled ones since."""
    number: int
    """Its number among the collectives that this rank calls uncompiled on the backend."""
    operation: str
    """`all_reduce(sum)`."""
    takes: str
    """`f32[272]`; "" for a barrier."""
    stack: tuple[UserFrame, ...]
    """The user's lines at which it is called, the innermost last."""
    splits: Splits = ((), ())
    """How much an all-to-all sends to each rank, and how much it takes from each; empty where all are alike."""
    element: str = ""
    """The element of a loop for which it is called, `name is 'weight'`.

    "" without a loop over texts or parameters.
    """
    rounds: tuple[Round, ...] = ()
    """The rounds of loops in which it is called, the outermost first."""

    @property
    def text(self) -> str:
        """Return what has to be alike in all ranks of the group."""
        return f"{self.operation} of {self.takes}" if self.takes else self.operation

    @property
    def is_end(self) -> bool:
        """Whether the rank calls no collective of the group any more."""
        return self.operation in (DESTROYED, ENDED)

    @property
    def is_of_parameter(self) -> bool:
        """Whether its element is a parameter, which all ranks of a group have to take at once."""
        return _OF_PARAMETER in self.element

    def other_round(self, other: Called) -> tuple[Round, Round] | None:
        """Return the outermost loop in whose rounds two ranks are not the same, in both of them."""
        theirs = _by_loop(other.rounds)
        both = ((each, theirs.get(key)) for key, each in _by_loop(self.rounds).items())
        return next(((our, their) for our, their in both if their is not None and our.number != their.number), None)

    def is_anew_since(self, before: Called) -> bool:
        """Whether the rank has begun a loop again since an earlier collective in it."""
        then = _by_loop(before.rounds)
        return any(each.number < then[key].number for key, each in _by_loop(self.rounds).items() if key in then)

    def differs(self, other: Called) -> bool:
        """Whether one rank calls another collective than the other."""
        if self.operation == other.operation and self.takes.endswith(TENSORS) != other.takes.endswith(TENSORS):
            return _dtype(self.takes) != _dtype(other.takes)  # one of them does not tell the sizes
        return self.text != other.text and not (self.is_end and other.is_end)


def of_parameter(target: str, parameter: str) -> str:
    """Return the element of a loop over parameters: `p is the parameter head.weight`."""
    return f"{target}{_OF_PARAMETER}{parameter}"


def _by_loop(rounds: Sequence[Round]) -> dict[tuple[str, str, int], Round]:
    """Return rounds by function, name, and how many such loops are around.

    Several frames may be of functions of one name: `forward`.
    """
    names = [(each.function, each.name) for each in rounds]
    return {(*name, names[:at].count(name)): each for at, (name, each) in enumerate(zip(names, rounds, strict=True))}


def _dtype(takes: str) -> str:
    return takes.partition("[")[0].partition(" ")[0]


class CalledInGroup(Struct, array_like=True):
    """The latest collectives that a rank has called in one process group."""

    is_counted: bool
    """Whether the places of collectives are those of the other ranks."""
    calls: list[Called]
    """The uncompiled ones."""
    begun: list[Called] = []
    """All, as torch's flight recorder keeps them: those of graphs and of autograd, too."""
    waits: bool = False
    """Whether a thread of the rank waits in the latest of these now."""
    reduced: list[Called] = []
    """The forwards after whose backwards DistributedDataParallel reduces gradients."""


def kinds_of(operations: Iterable[str]) -> set[str]:
    """Return which collectives of a backend may run for operations of graphs.

    It is `all_gather` for `all_gather_into_tensor(2)`. DTensor's operations tell it by their placements alone.
    """
    names = [each.partition("(")[0] for each in operations]
    if any(not name.startswith(_KINDS) for name in names):
        return {*_KINDS}
    kinds = {kind for kind in _KINDS for name in names if name.startswith(kind)}
    return kinds | ({"all_reduce"} if "reduce_scatter" in kinds else set())  # as gloo does it


def first_difference(ours: CalledInGroup, theirs: CalledInGroup) -> tuple[Called, Called] | None:
    """Return the uncompiled collectives at which two ranks part, if they do.

    What one rank calls uncompiled may be in a graph of the other: then the same places match. A graph may count for one
    rank alone, as one that is recorded for CUDA does: then the same numbers match.
    """
    if not (ours.is_counted and theirs.is_counted):
        return None
    pairs = _pairs({each.place: each for each in ours.calls}, {each.place: each for each in theirs.calls})
    differing = next((at for at, (our, their) in enumerate(pairs) if our.differs(their)), None)
    if differing is None or not _differs_by_number(ours.calls, theirs.calls):
        return None
    are_alike = any(our.element and our.element == their.element for our, their in pairs)  # no files of each rank
    rounds = _rounds_of_both(ours.calls, theirs.calls)
    first = differing
    while first and (_are_apart(*pairs[first - 1], are_alike) or _skips(pairs[first - 1], rounds)):
        first -= 1  # they have called the same before, at other lines, or for another element of a loop
    if first == 0 and (_is_once_more(pairs[: differing + 1]) or _skips(pairs[0], rounds)):
        return pairs[0]
    return pairs[first or differing]  # without a pair at equal lines, they may always be at others


def _is_once_more(pairs: Sequence[tuple[Called, Called]]) -> bool:
    """Whether one rank has called one more at first, and then what the other calls."""
    lines = [[(each.stack, each.element) for each in side] for side in zip(*pairs, strict=True)]
    return len(pairs) > 1 and (lines[0][1:] == lines[1][:-1] or lines[1][1:] == lines[0][:-1])


def _are_apart(ours: Called, theirs: Called, are_alike: bool) -> bool:
    return ours.stack != theirs.stack or (are_alike and ours.element != theirs.element)


def _rounds_of_both(ours: Iterable[Called], theirs: Iterable[Called]) -> set[tuple[str, str, int]]:
    """Return the rounds of loops in which both ranks have called a collective."""
    one, other = (
        {(each.function, each.name, each.number) for called in side for each in called.rounds}
        for side in (ours, theirs)
    )
    return one & other


def _skips(pair: tuple[Called, Called], rounds: set[tuple[str, str, int]]) -> bool:
    """Whether one rank has called nothing in a round of a loop in which the other calls.

    Ranks that go through other rounds by right share none: `range(rank, 100, ranks)`.
    """
    both = pair[0].other_round(pair[1])
    return both is not None and any(key[:2] == (both[0].function, both[0].name) for key in rounds)


def first_reduced_apart(ours: CalledInGroup, theirs: CalledInGroup) -> tuple[Called, Called] | None:
    """Return the first backward in which two ranks reduce gradients in other rounds of a loop.

    Without such, the first of which the forwards are called at other lines, after one at the same lines.
    """
    pairs = _pairs({each.number: each for each in ours.reduced}, {each.number: each for each in theirs.reduced})
    rounds = _rounds_of_both(ours.reduced, theirs.reduced)
    apart = next((at for at, (our, their) in enumerate(pairs) if our.stack != their.stack), 0)
    return next((pair for pair in pairs if _skips(pair, rounds)), pairs[apart] if apart else None)


def first_reordered(
    ours: CalledInGroup, theirs: CalledInGroup, is_passed: Callable[[UserFrame], object]
) -> tuple[Called, Called] | None:
    """Return the collectives in which two ranks reduce other elements of one loop.

    Each goes through them in its own order. `is_passed` returns whether the collective at a line takes the element.
    """
    if not (ours.is_counted and theirs.is_counted):
        return None
    of_line: dict[tuple[UserFrame, ...], list[tuple[Called, Called]]] = {}
    for our, their in _pairs({each.place: each for each in ours.calls}, {each.place: each for each in theirs.calls}):
        if our.stack and (our.stack, our.text) == (their.stack, their.text) and our.element and their.element:
            of_line.setdefault(our.stack, []).append((our, their))
    for stack, pairs in of_line.items():
        elements, others = [our.element for our, _ in pairs], [their.element for _, their in pairs]
        are_alike = sorted(elements) == sorted(others)  # texts may be those of each rank: names of its files
        are_parameters = all(each.is_of_parameter for pair in pairs for each in pair) and {*elements} & {*others}
        if elements != others and (are_alike or are_parameters) and is_passed(stack[-1]):
            return next(pair for pair in pairs if pair[0].element != pair[1].element)
    return None


def first_at_other_lines(ours: CalledInGroup, theirs: CalledInGroup) -> tuple[Called, Called] | None:
    """Return the first collective that two ranks call at other lines.

    None where they do not come to the same lines, each in its own order, or where another collective differs.
    """
    pairs = _pairs({each.place: each for each in ours.calls}, {each.place: each for each in theirs.calls})
    if not (ours.is_counted and theirs.is_counted) or any(our.differs(their) for our, their in pairs):
        return None
    known = [pair for pair in pairs if pair[0].takes and pair[0].stack and pair[1].stack]
    apart = [pair for pair in known if pair[0].stack != pair[1].stack]
    lines = [Counter(each.stack for each in side) for side in zip(*apart, strict=True)]
    return apart[0] if apart and lines[0] == lines[1] else None


def first_begun_apart(ours: CalledInGroup, theirs: CalledInGroup) -> tuple[Called, Called] | None:
    """Return the collectives at which two ranks part, compiled or not, if they do."""
    if not (ours.is_counted and theirs.is_counted):
        return None
    pairs = _pairs({each.place: each for each in ours.begun}, {each.place: each for each in theirs.begun})
    return next(((our, their) for our, their in pairs if our.differs(their)), None)


def waiting_in_two_groups(ours: CalledInGroup, theirs: CalledInGroup, other: Groups) -> tuple[Called, Called] | None:
    """Return the collectives of two process groups in which two ranks wait for each other.

    `ours` is what this rank has called in a group, and `theirs` what the other has called there; `other` are both of
    another group. This rank waits in the first, and the other rank in the second, and neither has begun the other's.
    """
    own_there, their_there = other
    if not (ours.waits and their_there.waits and ours.begun and their_there.begun):
        return None
    last, their_last = ours.begun[-1], their_there.begun[-1]
    is_open = _count(theirs) < last.number and _count(own_there) < their_last.number
    return (last, their_last) if is_open else None


def _count(called: CalledInGroup) -> int:
    """Return how many collectives of a process group a rank has begun."""
    return called.begun[-1].number if called.begun else 0


def first_unmatched_splits(
    ours: CalledInGroup, theirs: CalledInGroup, places: tuple[int, int]
) -> tuple[Called, Called] | None:
    """Return the all-to-all in which one rank sends more or less than another takes, if any.

    `places` are those of both ranks in the group. Each side tells its sizes.
    """
    pairs = _pairs({each.place: each for each in ours.calls}, {each.place: each for each in theirs.calls})
    return first_unmatched(pairs, places)


def first_unmatched(pairs: Iterable[tuple[Split, Split]], places: tuple[int, int]) -> tuple[Split, Split] | None:
    """Return the first pair in which one rank sends more or less than the other takes.

    `places` are those of both ranks in the group. Each side tells its sizes.
    """
    for our, their in pairs:
        if (sizes := _unmatched_splits(our.splits, their.splits, places)) is not None:
            one, other = (
                structs.replace(each, operation=f"{each.operation}({told})")  # type: ignore[type-var]  # it is a Struct
                for each, told in zip((our, their), sizes, strict=True)
            )
            return one, other
    return None


def _unmatched_splits(ours: Splits, theirs: Splits, places: tuple[int, int]) -> tuple[str, str] | None:
    """Return the split sizes of which one rank sends more or less than the other takes, if any.

    `places` are those of both ranks in the group. A negative size is not known.
    """
    for sent, taken, (own, others), is_ours in (
        (ours[0], theirs[1], places, True),
        (theirs[0], ours[1], places[::-1], False),
    ):
        if (
            max(places) < min(len(sent), len(taken))
            and sent[others] != taken[own]
            and min(sent[others], taken[own]) >= 0
        ):
            told = f"input_split_sizes={[*sent]}", f"output_split_sizes={[*taken]}"
            return told if is_ours else told[::-1]
    return None


def _differs_by_number(ours: Sequence[Called], theirs: Sequence[Called]) -> bool:
    by_number = _pairs(*({(each.place[0], each.number): each for each in side} for side in (ours, theirs)))
    return any(our.differs(their) for our, their in by_number)


def _pairs(ours: dict[Key, Called], theirs: dict[Key, Called]) -> list[tuple[Called, Called]]:
    return [(each, theirs[key]) for key, each in ours.items() if key in theirs]
