"""Find what leads two ranks to other collectives, past earlier branches after which both meet again."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence

from msgspec import structs

from dynascope.facts.branch import words_at
from dynascope.facts.comparison.differences import Comparison, Difference, compare
from dynascope.facts.comparison.trail import TracedCompile, TracedLine, TracedPlace
from dynascope.facts.user_stack import UserFrame

_MOST_BRANCHES = 64
"""The most branches of two compiles that are looked at."""
_FARTHEST = 10_000
"""The most lines that either traces between a branch and the line at which both meet again."""

_SETTING = re.compile(r"(?<![\w.])[A-Za-z_]\w*\b(?!\[)")
_TENSOR = re.compile(r"[a-z]+\d*(?:_\w+)?\[")
"""How the text of a tensor begins: `f32[8, 16]`."""
_NUMBER = re.compile(r"-?\d+")
COMPUTED_SIZE = re.compile(r"\[.*(//|\bTruncToInt\()")
"""A size that is computed of others, whose value is not recorded."""

CallLines = tuple[UserFrame | None, UserFrame | None]
"""The line at which each side calls the collective that differs; None for a side that calls none."""


def branch_to(left: TracedCompile, right: TracedCompile, calls: CallLines) -> tuple[Comparison, Difference] | None:
    """Return the branch after which only one side traces the line of the collective.

    None without such. The compiles of the comparison have the same lines up to the branch.
    """
    for comparison, branch, ways in _up_to_branches(left, right):
        called = [[_calls(way, call) for way in ways] for call in calls if call is not None]
        if branch is not None and any(on_one != on_other for on_one, on_other in called):
            return comparison, branch
    return None


def value_of(left: TracedCompile, right: TracedCompile, texts: tuple[str, str]) -> tuple[Comparison, Difference] | None:
    """Return the first value that makes two collectives differ that both call at one line.

    It is a setting that only one of these texts has in it, as `avg`, else a tensor of another size or dtype.
    """
    words = [{*_SETTING.findall(text)} for text in texts]
    only = words[0] - words[1], words[1] - words[0]
    tensors: list[tuple[Comparison, Difference]] = []
    numbers: list[Difference] = []
    for comparison, _, _ in _up_to_branches(left, right):
        for each in comparison.decided:
            sides = each.left or "", each.right or ""
            named = [{*_SETTING.findall(side)} for side in sides]
            is_setting = named[0] & only[0] and named[1] & only[1] and not (named[0] & only[1] or named[1] & only[0])
            if is_setting:
                return comparison, each
            if each.kind == "value" and all(map(_TENSOR.match, sides)):
                tensors.append((comparison, each))
            elif each.kind == "value" and all(map(_NUMBER.fullmatch, sides)) and not _are_ranks(each, comparison):
                numbers.append(each)
    return (tensors[0][0], _number_read(tensors[0][1], numbers)) if tensors else None


def is_of_types(value: Difference, texts: tuple[str, str]) -> bool:
    """Whether a value may be why two collectives take tensors of other types.

    `texts` are the collectives: `all_reduce(sum) of f32[16]`. A tensor of the same type in both ranks does not.
    """
    taken = [each.rpartition(" of ")[2].partition("[")[0] for each in texts]
    sides = [each or "" for each in (value.left, value.right)]
    of_value = {each.partition("[")[0] for each in sides if _TENSOR.match(each)}
    return taken[0] == taken[1] or len(of_value) != 1


def _are_ranks(value: Difference, comparison: Comparison) -> bool:
    """Whether a value is the number of its rank on both sides."""
    return all(
        f"rank {text}" == side.name for text, side in ((value.left, comparison.left), (value.right, comparison.right))
    )


def _number_read(value: Difference, numbers: Sequence[Difference]) -> Difference:
    """Return the number that a value is computed from in the same function, or the value itself."""
    read = words_at(value.place.path, value.place.line)
    here = (value.place.path, value.place.function, value.place.depth)
    before = [each for each in numbers if each.row < value.row and each.name in read]
    own = [each for each in before if (each.place.path, each.place.function, each.place.depth) == here]
    return own[-1] if own else value


def value_read(
    left: TracedCompile, right: TracedCompile, stacks: Sequence[Sequence[UserFrame]]
) -> tuple[Comparison, Difference] | None:
    """Return the latest value that differs and that a line of a stack reads, else its function.

    The innermost line comes first: each stack has it last. What a function reads after the line is no cause, and
    tensors, which are computed of other values, come last.
    """
    frames = [(depth, frame, words_at(frame.path, frame.line)) for each in stacks for depth, frame in _inwards(each)]
    found: dict[tuple[int, bool, bool], tuple[Comparison, Difference]] = {}
    for comparison, _, _ in _up_to_branches(left, right):
        for each in comparison.decided:
            keys = [(depth, each.name not in words) for depth, frame, words in frames if _is_read(each, frame, words)]
            if each.left and each.right and keys and not COMPUTED_SIZE.search(f"{each.left} {each.right}"):
                found[*min(keys), _TENSOR.match(each.left) is not None] = comparison, each
    return found[min(found)] if found else None


def _inwards(stack: Sequence[UserFrame]) -> Iterator[tuple[int, UserFrame]]:
    return enumerate(reversed(stack))


def _is_read(each: Difference, frame: UserFrame, words: Container[str]) -> bool:
    """Whether a line reads a value, or its function does before."""
    place = each.place
    if _function(place) != (frame.path, frame.function.rpartition(".")[2]):
        return each.name in words
    # a name has its value after its line
    return place.line < frame.line or (place.line == frame.line and each.kind != "value")


def _up_to_branches(
    left: TracedCompile, right: TracedCompile
) -> Iterator[tuple[Comparison, Difference | None, list[Sequence[TracedLine]]]]:
    """Yield comparisons up to each branch, with the lines from there to where both meet again.

    The last one is up to the end. Each has the values that differ before the earlier branches, too. A graph break of
    one side is a branch where both then trace other lines.
    """
    decided: list[Difference] = []
    for _ in range(_MOST_BRANCHES):
        comparison = compare(left, right)
        comparison.decided = decided = [*decided, *comparison.decided]
        ways = (each for each in comparison.differences if each.kind == "branch" or each.row == comparison.common - 1)
        branch = next((each for each in ways if each.kind in ("branch", "break")), None)
        if branch is None:
            yield comparison, None, []
            return
        after = branch.row + 1
        meeting = _meeting(left.lines[after:], right.lines[after:], branch.place.depth)
        ends = (None, None) if meeting is None else (after + meeting[0], after + meeting[1])
        yield comparison, branch, [side.lines[after:end] for side, end in zip((left, right), ends, strict=True)]
        if meeting is None:
            return
        right = structs.replace(right, lines=[*left.lines[: ends[0]], *right.lines[ends[1] :]])


def _meeting(left: Sequence[TracedLine], right: Sequence[TracedLine], depth: int) -> tuple[int, int] | None:
    """Return how many lines each side traces until both trace the same one.

    It is no deeper than the branch. Of several such lines it is the nearest, not counting lines of functions that are
    called meanwhile: in a loop the next round may trace the lines that one side has left out.
    """
    ours, theirs = (
        [(at, _key(line)) for at, line in enumerate(side[:_FARTHEST]) if line.place.depth <= depth]
        for side in (left, right)
    )
    ahead: dict[object, int] = {}
    for number, (_, key) in enumerate(theirs):
        ahead.setdefault(key, number)
    met = ((number + ahead[key], at, theirs[ahead[key]][0]) for number, (at, key) in enumerate(ours) if key in ahead)
    nearest = min(met, default=None)
    return None if nearest is None else nearest[1:]


def _function(place: TracedPlace) -> tuple[str, str]:
    return place.path, place.function.rpartition(".")[2]


def _key(line: TracedLine) -> object:
    place = line.place
    return place.path, place.line, place.function, place.depth


def _calls(way: Sequence[TracedLine], call: UserFrame) -> bool:
    return any(line.place.line == call.line and line.place.path == call.path for line in way)
