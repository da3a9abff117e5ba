"""Say what a traced line has read in each of two ranks, with the sizes and numbers of both calls."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import structs

from dynascope.facts.branch import handled_at, paths_at, words_at
from dynascope.facts.comparison.computed_sizes import computed
from dynascope.facts.comparison.differences import Comparison, Difference
from dynascope.facts.comparison.ranks import PartOfCall
from dynascope.facts.comparison.trail import TracedCompile, TracedPlace
from dynascope.facts.recompiles.guarded_value import readable
from dynascope.facts.user_stack import UserFrame

_WORD = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def valued(comparison: Comparison, difference: Difference) -> Difference:
    """Return a difference of values with the sizes of both traced calls."""
    left = _with_sizes(comparison.left, difference.left)
    return structs.replace(difference, left=left, right=_with_sizes(comparison.right, difference.right))


def _with_sizes(compile: TracedCompile, text: str | None) -> str | None:
    """Return the text of a value with its sizes in the traced call: `f32[8]` for `f32[s77]`."""
    sizes = {symbol: compile.sizes.get(source, symbol) for symbol, source in compile.symbols.items()}
    return text and computed(_WORD.sub(lambda found: sizes.get(found[0], found[0]), text))


def read_in_branch(comparison: Comparison, difference: Difference, names: tuple[str, str]) -> Iterator[str]:
    """Yield sentences about errors and numbers at the line of a branch that differ."""
    if difference.kind != "branch":
        return
    sides = [_values(each, difference, difference.row + 1) for each in (comparison.left, comparison.right)]
    read = words_at(difference.place.path, difference.place.line)
    nexts = difference.left_next, difference.right_next
    handled = [_handled(each, difference.place) for each in nexts]
    if (handled[0] is None) != (handled[1] is None):
        yield _handled_told(handled, sides, read, names)
    # what the line itself gives a name follows from the way that it goes
    sides = [_values(each, difference, difference.row) for each in (comparison.left, comparison.right)]
    for name in sides[0]:
        texts = [side.get(name, "") for side in sides]
        if name in read and texts[0] != texts[1] and all(map(_NUMBER.fullmatch, texts)):
            yield f"{name} is {texts[0]} in {names[0]}, and {texts[1]} in {names[1]}."


def sizes_told(comparison: Comparison, difference: Difference, names: tuple[str, str]) -> Iterator[str]:
    """Yield the sizes that differ, of what the line of a branch reads."""
    if difference.kind != "branch":
        return
    at = difference.place.path, difference.place.line
    read, paths = words_at(*at), [each.split(".") for each in paths_at(*at)]
    ours, theirs = comparison.left.sizes, comparison.right.sizes
    for source, size in ours.items():
        tensor, _, dimension = readable(source).partition(".size()")
        *_, name = _WORD.findall(tensor) or [""]
        if size != theirs.get(source, size) and name in read:
            # as the line names it: `self.shard`, where the compiled function has it as `self.head.shard`
            written = next((".".join(each[: each.index(name) + 1]) for each in paths if name in each), tensor)
            yield f"{written}.size(){dimension} is {size} in {names[0]}, and {theirs[source]} in {names[1]}."


def placements_told(
    ours: Sequence[PartOfCall], theirs: Sequence[PartOfCall], at: UserFrame, names: tuple[str, str]
) -> Iterator[str]:
    """Yield sentences about DTensors at a line that are placed otherwise in each rank."""
    read = words_at(at.path, at.line)
    one, other = ({key: text for part in side for key, text in part.placements.items()} for side in (ours, theirs))
    for source, text in one.items():
        *_, name = _WORD.findall(readable(source)) or [""]
        if text != other.get(source, text) and name in read:
            yield f"{readable(source)} is {text} in {names[0]}, and {other[source]} in {names[1]}."


def _values(compile: TracedCompile, difference: Difference, rows: int) -> dict[str, str]:
    """Return the variables of the function in which the ways part, after some lines."""
    place, found = difference.place, dict[str, str]()
    for line in compile.lines[:rows]:
        for each in line.decisions:
            same = (each.place.path, each.place.function, each.place.depth)
            if each.kind == "value" and same == (place.path, place.function, place.depth):
                found[each.subject] = _with_sizes(compile, each.text) or ""
    return found


def _handled(after: TracedPlace | None, place: TracedPlace) -> str | None:
    """Return the error that the handler on a line of the same function takes: `KeyError`."""
    is_there = after is not None and (after.path, after.depth) == (place.path, place.depth)
    return handled_at(after.path, after.line) if is_there and after is not None else None


def _handled_told(
    handled: list[str | None], sides: list[dict[str, str]], read: set[str], names: tuple[str, str]
) -> str:
    side = 0 if handled[0] is not None else 1
    what = f"`{handled[side]}`" if handled[side] else "an error"
    told = [f"{what} is raised there in {names[side]}, and not in {names[1 - side]}"]
    both = [name for name, text in sides[0].items() if name in read and text and sides[1].get(name) == text]
    only = [name for name in sides[1 - side] if name in read and name not in sides[side]]
    told += [f"{name} is {sides[0][name]} in both" for name in both if name != "self"][:1]
    told += [f"{name} is {sides[1 - side][name]} in {names[1 - side]}" for name in only][:1]
    text = ", ".join([*told[:-1], f"and {told[-1]}"]) if len(told) > 1 else told[0]
    return f"{text[:1].upper()}{text[1:]}."
