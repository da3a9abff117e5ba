"""Look up what two ranks have as the values that a statement of plain Python reads, and whether a condition is true."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from msgspec import Struct

from dynascope.facts.comparison.plain_branch import MODULE, FrameValues, PairOfValues, PlainBranch
from dynascope.facts.comparison.plain_evaluation import UNKNOWN, evaluated, is_object, length_of, text_of
from dynascope.facts.comparison.plain_reads import ROOT, global_names, is_global


class ValuesRead(Struct, frozen=True):
    """The known values that a statement reads in each of two ranks, as texts by name."""

    sides: tuple[dict[str, str], dict[str, str]]

    @property
    def differing(self) -> list[str]:
        """Return the names whose values differ between the ranks."""
        one, other = self.sides
        return [name for name in one if name in other and one[name] != other[name]]

    def with_each_other(self) -> ValuesRead:
        """Return the values with, for a name that is known in one rank alone, that of the other."""
        one, other = self.sides
        return ValuesRead((other | one, one | other))

    def truth(self, side: int, condition: str) -> bool | None:
        """Return whether a condition is true in a rank; None where that is not known."""
        try:
            found = evaluated(ast.parse(condition, mode="eval").body, self.sides[side])
            return None if found is UNKNOWN else bool(found)
        except (ArithmeticError, SyntaxError, TypeError, ValueError):
            return None

    def elements(self, side: int, elements: str) -> int | None:
        """Return how many elements a loop goes through in a rank; None where that is not known."""
        try:
            return length_of(ast.parse(elements, mode="eval").body, self.sides[side])
        except (ArithmeticError, SyntaxError, TypeError, ValueError):
            return None


def settings_apart(branch: PlainBranch, values: PairOfValues) -> list[tuple[str, str, str]]:
    """Return the attributes of objects that differ in a function of both ranks.

    Without attributes that name a rank.
    """
    theirs = {(each.path, each.function): each.values for each in values[1]}
    frames = [each for each in values[0] if (each.path, each.function) in theirs]
    own = [each for each in frames if (each.path, each.function) == (branch.path, branch.function)]
    if not frames:
        return []
    frame = (own or frames)[0]
    one, other = frame.values, theirs[frame.path, frame.function]
    names = [name for name in one if "." in name and name in other and "rank" not in name]
    return [(name, one[name], other[name]) for name in names if one[name] != other[name]]


def values_read(branch: PlainBranch, values: PairOfValues) -> ValuesRead:
    """Return what both ranks have as the values that a statement reads.

    `values` are those of the frames of both, the innermost first. What a function reads in which one rank alone is,
    the other may have, too: in an object that both have in a function that calls it, or in a global variable.
    """
    frames = [
        next((each for each in side if (each.path, each.function) == (branch.path, branch.function)), None)
        for side in values
    ]
    if branch.side is None:
        one, other = (_of(branch, frame.values if frame is not None else {}) for frame in frames)
        return ValuesRead((one, other))
    own = frames[branch.side]
    if own is None:
        return ValuesRead(({}, {}))
    read = _of(branch, own.values)
    there = (
        _of_globals(branch, values[1 - branch.side])
        | _through_objects(branch, own, values)
        | _in_later_round(branch, frames[1 - branch.side])
    )
    return ValuesRead((read, there) if branch.side == 0 else (there, read))


def _of(branch: PlainBranch, values: dict[str, str]) -> dict[str, str]:
    """Return the values that a statement reads, and the attributes of objects among them."""
    found = {name: text for name in branch.reads if (text := text_of(name, values)) is not None}
    parts = tuple(f"{name}[" for name in branch.reads if found.get(name, "").startswith("of length "))
    if branch.kind not in ("call", "operand"):
        parts += tuple(f"{name}." for name in branch.reads if is_object(found.get(name, "")))
        # a property is not read, and follows from the attributes of its object
        parts += tuple(f"{name.rpartition('.')[0]}." for name in branch.reads if "." in name and name not in found)
    return found | {name: text for name, text in values.items() if parts and name.startswith(parts)}


def _of_globals(branch: PlainBranch, frames: Sequence[FrameValues]) -> dict[str, str]:
    """Return a rank's global variables that a statement reads in a function it has left."""
    frame = next((each for each in frames if (each.path, each.function) == (branch.path, MODULE)), None)
    if frame is None:
        return {}
    kept = global_names(branch.path, branch.line)
    names = [each for each in branch.reads if is_global(each, kept)]
    return {name: text for name in names if (text := text_of(name, frame.values)) is not None}


def _in_later_round(branch: PlainBranch, frame: FrameValues | None) -> dict[str, str]:
    """Return what a rank in a later round of a loop still has, as the loop does not assign it."""
    if branch.assigned is None or frame is None:
        return {}
    kept = [name for name in branch.reads if (root := ROOT.match(name)) and root[2] not in branch.assigned]
    return {name: text for name in kept if (text := text_of(name, frame.values)) is not None}


def _through_objects(branch: PlainBranch, own: FrameValues, values: PairOfValues) -> dict[str, str]:
    side = branch.side or 0
    at = values[side].index(own)
    found: dict[str, str] = {}
    for caller, names in zip(values[side][at + 1 :], own.objects, strict=False):
        their = next(
            (each for each in values[1 - side] if (each.path, each.function) == (caller.path, caller.function)), None
        )
        for name in branch.reads if their is not None else ():
            root = ROOT.match(name)
            if root is not None and root[2] in names and their is not None:
                there = f"{root[1] or ''}{names[root[2]]}{name[root.end() :]}"
                text = text_of(there, their.values)
                if text is not None:
                    found.setdefault(name, text)
    return found
