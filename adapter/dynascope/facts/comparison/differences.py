"""Find what first differs between two compiles of the same function.

Tracing is deterministic: up to the first decision that differs both compiles trace the same lines, in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from typing import Literal

from msgspec import Struct, field

from dynascope.facts.comparison.trail import Decision, DecisionKind, TracedCompile, TracedPlace
from dynascope.facts.recompiles.guarded_value import readable

DifferenceKind = DecisionKind | Literal["branch"]
"""`branch`: which line each compile traces next."""

_NUMBERED = re.compile(r"\b(__\w+?)_\d+\b")
"""A name that Dynamo makes for a compile: `__builtins_dict___45`."""
_WORD = re.compile(r"\b[A-Za-z_]\w*")
_GROUP = ".group_name == "
_INNER = ("_modules", "_parameters", "_buffers", "__dict__", "size", "item", "group_name")
"""Attributes in which a module or object keeps what the program names."""
_ORDER: tuple[DecisionKind, ...] = ("break", "value", "symbol", "operation", "guard")
"""Which of several decisions is named first: what others follow from."""
_CONDITIONS = ("symbol", "guard")
"""Decisions that a branch takes."""
_IN_ORDER = ("symbol", "operation")
"""Kinds of decisions that are compared one by one; the others have a subject that both compiles name alike."""


class Difference(Struct, kw_only=True):
    """A decision that differs; a side's text is None if that compile decided nothing of the kind, or for a branch."""

    kind: DifferenceKind
    subject: str
    left: str | None
    right: str | None
    place: TracedPlace
    """The line of the decision, in both compiles."""
    row: int
    """The number of the latest line that had begun."""
    left_next: TracedPlace | None = None
    """The line that the left one traced next; None if its trace ended. Set for branches and breaks."""
    right_next: TracedPlace | None = None
    because: list[Difference] = field(default_factory=list)
    """For a branch, the conditions at its line that differ."""

    @property
    def name(self) -> str:
        """Return the last name in its subject: `sync` of `cfg['sync']`."""
        words = [each for each in _WORD.findall(readable(self.subject)) if each not in _INNER]
        return words[-1] if words else ""


class Comparison(Struct, kw_only=True):
    """The result of comparing two compiles line by line."""

    left: TracedCompile
    right: TracedCompile
    common: int
    """How many lines both traced, one after the other, before they went different ways."""
    differences: list[Difference]
    """The first difference of each kind, in order, up to where the two go different ways."""
    decided: list[Difference] = field(default_factory=list)
    """All values and guards that differ, in order, up to there."""

    @property
    def first(self) -> Difference | None:
        return self.differences[0] if self.differences else None


def compare(left: TracedCompile, right: TracedCompile) -> Comparison:
    """Compare two compiles of one function line by line."""
    found: dict[DifferenceKind, Difference] = {}
    decided: list[Difference] = []
    row = -1
    for row in count():
        sides = [compile.lines[row] if row < len(compile.lines) else None for compile in (left, right)]
        if sides[0] is None or sides[1] is None or not sides[0].place.is_like(sides[1].place):
            break
        nexts = [compile.lines[row + 1].place if row + 1 < len(compile.lines) else None for compile in (left, right)]
        if any(nexts[n] is None and not compile.is_finished for n, compile in enumerate((left, right))):
            row += 1
            break  # what is decided at this line, and after it, is not known yet
        here = list(_decided(left, right, row, sides[0].decisions, sides[1].decisions))
        decided += [each for each in here if each.kind in ("value", "guard")]
        parts = _parts(nexts, here, left, right, row)
        for each in parts:
            found.setdefault(each.kind, each)
    differences = list(found.values())
    if not differences and left.lines and left.has_guards and right.has_guards:
        differences = list(_other_guards(left, right))
    return Comparison(left=left, right=right, common=row, differences=differences, decided=decided)


def not_read(comparison: Comparison, side: int) -> list[str]:
    """Return the names in common lines whose values only the other compile knows so far."""
    sides = comparison.left, comparison.right
    if sides[side].is_finished:
        return []
    names: dict[str, None] = {}
    for row in range(comparison.common - 1):  # the latest line assigns its names when it ends
        ours, theirs = (_by_subject("value", sides[n].lines[row].decisions) for n in (side, 1 - side))
        names.update(dict.fromkeys(each.subject for key, each in theirs.items() if key not in ours))
    return list(names)


def _parts(
    nexts: list[TracedPlace | None], here: list[Difference], left: TracedCompile, right: TracedCompile, row: int
) -> list[Difference]:
    """Return what differs at a line, first what the rest follows from."""
    after, other = nexts
    for each in here:
        if each.kind == "break":
            each.left_next, each.right_next = after, other
    if after is None and other is None:
        same_way = (left.end, left.failure) == (right.end, right.failure)
    else:
        same_way = after is not None and other is not None and after.is_like(other)
    if same_way or any(each.kind == "break" for each in here):
        return here
    conditions = [each for each in here if each.kind in _CONDITIONS]
    branch = Difference(
        kind="branch",
        subject="",
        left=None,
        right=None,
        place=left.lines[row].place,
        row=row,
        left_next=after,
        right_next=other,
        because=conditions,
    )
    rest = [each for each in here if each.kind not in _CONDITIONS]
    before = [each for each in rest if each.left is not None and each.right is not None]
    return [*before, branch]  # what only one has follows from the way that it goes


def _decided(
    left: TracedCompile, right: TracedCompile, row: int, ours: list[Decision], theirs: list[Decision]
) -> Iterator[Difference]:
    """Yield decisions that differ; two guards on process groups at one place are one.

    Where a module has one group under two names, its guard has the name that was read first.
    """
    found = [*_decided_by_kind(left, right, row, ours, theirs)]
    of_groups = [each for each in found if each.kind == "guard" and _GROUP in (each.left or each.right or "")]
    pairs = [
        (one, other)
        for one in of_groups
        for other in of_groups
        if one.right is None and other.left is None and one.place == other.place
    ]
    if len(of_groups) == 2 and pairs:
        one, other = pairs[0]
        ranks = [(text or "").partition(_GROUP)[2] for text in (one.left, other.right)]
        is_first = not any(each.subject == one.subject for line in left.lines[:row] for each in line.decisions)
        named = one if is_first else other
        subject = (named.left or named.right or "").partition(_GROUP)[0]
        named.left, named.right = (f"{subject}{_GROUP}{each}" for each in ranks)
        found.remove(other if is_first else one)
        if named.left == named.right:
            found.remove(named)
    yield from found


def _decided_by_kind(
    left: TracedCompile, right: TracedCompile, row: int, ours: list[Decision], theirs: list[Decision]
) -> Iterator[Difference]:
    """Yield decisions that differ, each before the decisions that follow from it."""
    for kind in _ORDER:
        if kind == "guard" and not (left.has_guards and right.has_guards):
            continue
        first, second = (_by_subject(kind, decisions) for decisions in (ours, theirs))
        for key in dict.fromkeys([*first, *second]):
            one, other = first.get(key), second.get(key)
            known = one or other
            if known is None or any(
                decision is None and (not compile.is_finished or (kind == "value" and compile.end == "repeated"))
                for compile, decision in ((left, one), (right, other))
            ):
                continue
            if one is None or other is None or _text(left, one) != _text(right, other):
                ours_text, theirs_text = (None if each is None else each.text for each in (one, other))
                if kind == "guard":
                    ours_text, theirs_text = _only(ours_text, theirs_text), _only(theirs_text, ours_text)
                yield Difference(
                    kind=kind, subject=known.subject, left=ours_text, right=theirs_text, place=known.place, row=row
                )


def _other_guards(left: TracedCompile, right: TracedCompile) -> Iterator[Difference]:
    """Yield the guards that differ and that no line asked for, at the function's first line."""
    for kind in dict.fromkeys([*left.other_guards, *right.other_guards]):
        ours, theirs = left.other_guards.get(kind), right.other_guards.get(kind)
        if ours != theirs:
            place = left.lines[0].place
            yield Difference(
                kind="guard", subject=kind, left=_only(ours, theirs), right=_only(theirs, ours), place=place, row=0
            )


def _only(code: str | None, other: str | None) -> str | None:
    """Return the conditions of a guard that the other compile's does not have."""
    known = (other or "").split("\n")
    return code and " and ".join(each for each in code.split("\n") if each not in known)


def _by_subject(kind: DecisionKind, decisions: list[Decision]) -> dict[object, Decision]:
    chosen = [each for each in decisions if each.kind == kind]
    if kind in _IN_ORDER:
        return dict(enumerate(chosen))
    return {(each.place.line, each.place.depth, _NUMBERED.sub(r"\1", each.subject)): each for each in chosen}


def _text(compile: TracedCompile, decision: Decision) -> str:
    """Return the decision with what its symbols stand for in their place."""
    written = f"{decision.subject} {decision.text}" if decision.kind in _IN_ORDER else decision.text
    written = _NUMBERED.sub(r"\1", written)
    return with_sources(written, compile.symbols)


def with_sources(text: str, symbols: dict[str, str]) -> str:
    """Return a text with the sources of symbols in place of their names."""
    return _WORD.sub(lambda word: symbols.get(word[0], word[0]), text)
