"""Pair the newest compiled calls of functions in two ranks, to explain what these call at run time."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec import structs

from dynascope.facts.comparison.called import Called, kinds_of
from dynascope.facts.comparison.plain_branch import FrameValues, PairOfValues
from dynascope.facts.comparison.plain_code import is_same_function
from dynascope.facts.comparison.ranks import PartName, PartOfCall
from dynascope.facts.user_stack import UserFrame

_MOST_BYTES = 1 << 16
"""The most bytes that a rank leaves; the calls before are left out."""
_encode = msgspec.msgpack.Encoder(enc_hook=str).encode


class NewestCall(msgspec.Struct, array_like=True):
    """The newest call of a function for which it was compiled, or what follows a graph break of it alone."""

    path: str
    line: int
    function: str
    parts: list[PartOfCall]
    gradients: dict[str, list[str]] = {}
    """The parameters whose gradients DistributedDataParallel reduces, by its process group."""
    callers: tuple[UserFrame, ...] = ()
    """The user's lines at which the function was called, the innermost last."""
    values: list[FrameValues] = []
    """The counts in the frames of these lines, the innermost first."""
    before: list[list[str]] = []
    """The collectives of each earlier call for which it was compiled; known of a rank that has ended alone."""

    def is_behind(self, other: NewestCall) -> bool:
        """Whether another rank has gone on from the same compile."""
        number, texts = len(self.before), [each.text for part in self.parts for each in part.collectives]
        return number < len(other.before) and texts == other.before[number]

    @property
    def name(self) -> PartName:
        """Return what it is a compile of, the same in all ranks."""
        return self.parts[0].name

    def is_at(self, frame: UserFrame) -> bool:
        """Whether a line is in the function, also in what follows a graph break, or calls it."""
        name = self.function.rpartition(".")[2]
        is_inside = frame.function == name or f"_in_{name}_at_" in frame.function
        is_caller = (frame.path, frame.line) == self.parts[0].called_at
        return is_caller or (is_inside and frame.path == self.path and frame.line >= self.line)


encode_call = _encode
decode_call = msgspec.msgpack.Decoder(NewestCall).decode
_decode = msgspec.msgpack.Decoder(list[NewestCall]).decode


def packed(calls: Sequence[NewestCall]) -> bytes:
    """Return calls as bytes, as many of the first as fit, for `unpacked`."""
    kept = [*calls]
    data = zlib.compress(_encode(kept))
    while kept and len(data) > _MOST_BYTES:
        kept.pop()
        data = zlib.compress(_encode(kept))
    return data


def unpacked(data: bytes) -> list[NewestCall]:
    """Return calls that were `packed`."""
    return _decode(zlib.decompress(data)) if data else []


def whole_calls(calls: Iterable[NewestCall]) -> list[NewestCall]:
    """Return calls, the newest first, of which each begins at the beginning of its function.

    Where only what follows a graph break was compiled again, the compiles before it are those of an earlier call.
    """
    made: list[NewestCall] = []
    for call in calls:
        earlier = _with(reversed(made), call.name) if call.parts[0].compile.resumes_at is not None else None
        if earlier is not None:
            before = [each.name for each in earlier.parts].index(call.name)
            call = structs.replace(call, parts=[*earlier.parts[:before], *call.parts])
            made.remove(earlier)
        made.append(call)
    return made[::-1]


def lines_in_graph(stack: Sequence[UserFrame], operation: str, calls: Iterable[NewestCall]) -> Sequence[UserFrame]:
    """Return the user's lines of a collective of a graph.

    While it runs, its caller is at the line of the call, and after a graph break its function at that of the break. The
    same lines where no compile tells others.
    """
    if not stack:
        return stack
    kinds = kinds_of([operation])
    for call in calls:
        at = (place for place, each in enumerate(call.parts) if _breaks_at(each, stack[-1]))
        for part in call.parts[next(at, len(call.parts)) + 1 :]:
            found = next((each for each in part.collectives if each.stack and kinds & kinds_of([each.operation])), None)
            if found is not None:
                return (*stack[:-1], *found.stack)
    here = (stack[-1].path, stack[-1].line)
    called = (part for call in calls for part in call.parts[:1] if part.called_at == here)
    first = (one for part in called for one in part.collectives if one.stack and kinds & kinds_of([one.operation]))
    return (*stack, *map(_unqualified, one.stack)) if (one := next(first, None)) is not None else stack


def called_in_graph(called: Called, group: str, calls: Sequence[NewestCall]) -> Called | None:
    """Return the first collective in graphs of a function that another rank runs uncompiled.

    It is one of a process group, with the lines of the uncompiled one up to the function; None if it is alike. Without
    such it is the first in graphs of the only function that calls any.
    """
    for at, frame in reversed([*enumerate(called.stack)]):
        for part in (part for call in calls for part in call.parts):
            for each in part.collectives:
                inner = [_unqualified(one) for one in each.stack]
                begins = next((place for place, one in enumerate(inner) if is_same_function(one, frame)), None)
                if each.group == group and begins is not None:
                    stack = (*called.stack[:at], *inner[begins:])
                    is_alike = kinds_of([each.operation]) & kinds_of([called.operation]) and stack == called.stack
                    found = structs.replace(called, operation=each.operation, takes=each.takes, stack=stack)
                    return None if is_alike else found
    return _called_in_only_graph(called, group, calls)


def _called_in_only_graph(called: Called, group: str, calls: Iterable[NewestCall]) -> Called | None:
    """Return the first collective of the only function with such, at the lines of its call."""
    found = [
        (call, each)
        for call in calls
        for each in [one for part in call.parts for one in part.collectives if one.group == group][:1]
    ]
    if len({call.name for call, _ in found}) != 1:
        return None
    call, each = found[0]
    stack = (*call.callers, *map(_unqualified, each.stack))
    return structs.replace(called, operation=each.operation, takes=each.takes, stack=stack)


def _unqualified(frame: UserFrame) -> UserFrame:
    return structs.replace(frame, function=frame.function.rpartition(".")[2])


def _breaks_at(part: PartOfCall, frame: UserFrame) -> bool:
    """Whether the graph of a compile ends at a line."""
    return any((each.path, each.line) == (frame.path, frame.line) for each in part.breaks)


class PairOfCalls(NamedTuple):
    """The newest calls of a function in two ranks."""

    ours: Sequence[PartOfCall]
    theirs: Sequence[PartOfCall]
    is_there: bool
    """Whether one of the lines that are asked about belongs to it."""
    gradients: tuple[Mapping[str, Sequence[str]], Mapping[str, Sequence[str]]] = ({}, {})
    """The parameters whose gradients each side reduces, by process group."""
    is_newest: bool = True
    """Whether both are the newest; else one side is an earlier call, whose collectives the other side has in none."""

    callers: tuple[Sequence[UserFrame], Sequence[UserFrame]] = ((), ())
    """The user's lines at which each rank has called it."""
    values: PairOfValues = ((), ())
    """The counts in the frames of these lines."""
    is_behind: bool = False
    """Whether one rank has compiled what the other has compiled before its newest."""

    def turned(self) -> PairOfCalls:
        """Return the same with the sides exchanged."""
        return self._replace(
            ours=self.theirs,
            theirs=self.ours,
            gradients=self.gradients[::-1],
            callers=self.callers[::-1],
            values=self.values[::-1],
        )

    def used_by_one(self, group: str) -> tuple[list[str], list[str]]:
        """Return the parameters that only one side uses, if both use any."""
        ours, theirs = ({*each.get(group, ())} for each in self.gradients)
        return (sorted(ours - theirs), sorted(theirs - ours)) if ours and theirs else ([], [])


def pairs_at(
    ours: Sequence[NewestCall], theirs: Sequence[NewestCall], frames: Iterable[UserFrame]
) -> list[PairOfCalls]:
    """Return the newest calls of each function, first of those to which a line belongs."""
    lines, pairs = [*frames], []
    for name in dict.fromkeys(each.name for each in (*ours, *theirs)):
        our, their = _with(ours, name), _with(theirs, name)
        if our is not None and their is not None:
            calls = [each for each in (*ours, *theirs) if each.name == name]
            is_there = any(call.is_at(frame) for frame in lines for call in calls)
            gradients = our.gradients, their.gradients
            is_behind = our.is_behind(their) or their.is_behind(our)
            sides = _begun_at(our, name), _begun_at(their, name)
            called, values = (our.callers, their.callers), (our.values, their.values)
            pairs.append(PairOfCalls(*sides, is_there, gradients, True, called, values, is_behind))
    return sorted(pairs, key=lambda pair: not pair.is_there)


def unmatched_pairs(
    ours: Sequence[NewestCall], theirs: Sequence[NewestCall], group: str, frames: Iterable[UserFrame]
) -> Iterator[PairOfCalls]:
    """Yield the calls of a rank whose collectives another rank calls in none of a function.

    They are of one process group, and the function is that of one of the lines, or is called there.
    """
    lines = [*frames]
    for name in dict.fromkeys(each.parts[0].name for each in (*ours, *theirs)):
        sides = [[each for each in side if each.parts[0].name == name] for side in (ours, theirs)]
        if not all(sides) or not any(call.is_at(frame) for frame in lines for side in sides for call in side):
            continue
        texts = [[_texts(call, group) for call in side] for side in sides]
        for side in (0, 1):
            for call, called in zip(sides[side], texts[side], strict=True):
                if called not in texts[1 - side]:
                    pair = PairOfCalls(call.parts, sides[1 - side][0].parts, True, is_newest=False)
                    yield pair if side == 0 else pair.turned()


def _texts(call: NewestCall, group: str) -> list[str]:
    return [each.text for part in call.parts for each in part.called_in(group)]


def _with(calls: Iterable[NewestCall], name: PartName) -> NewestCall | None:
    """Return the newest call with a compile of this name."""
    return next((call for call in calls if any(each.name == name for each in call.parts)), None)


def _begun_at(call: NewestCall, name: PartName) -> Sequence[PartOfCall]:
    """Return the compiles of a call from the first of this name on."""
    return call.parts[[each.name for each in call.parts].index(name) :]
