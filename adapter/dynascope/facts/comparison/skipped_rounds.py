"""Find what has kept a rank from calling a collective in a round of a loop in which another rank calls it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dynascope.facts.comparison.called import Round
from dynascope.facts.comparison.plain_branches import PlainBranch, branch_of, in_callees, settings_of, way_of
from dynascope.facts.comparison.plain_reads import assigned_in, counted_at
from dynascope.facts.user_stack import UserFrame


def skipping_round(stack: Sequence[UserFrame], loop: Round, side: int) -> Iterator[PlainBranch]:
    """Yield what may decide whether a rank calls a collective in a round, the likeliest first.

    `stack` has the user's lines at which a rank, `side` 0 or 1 of the two, calls it in an earlier round than the other.
    """
    at = next((place for place, each in enumerate(stack) if each.function == loop.function), None)
    if at is None:
        return
    frame = stack[at]
    counted = next((each.loop for each in counted_at(frame.path, frame.line) if each.name == loop.name), None)
    if counted is None:
        return
    assigned = frozenset(assigned_in(counted))
    inner = [step for step in way_of(frame) if step.node.lineno > counted.lineno]
    conditions = [
        branch_of(node, frame, _truth(bool(is_true), side))._replace(side=side, assigned=assigned)
        for node, is_true in inner
        if isinstance(node, ast.If)
    ]
    found = [*conditions, *in_callees(stack[at + 1 :], side)]
    is_only = sum(each.is_true is not None for each in found) == 1 and len(found) == 1 + _settings_among(found)
    yield from (each._replace(is_only=is_only and each.is_true is not None) for each in found)
    yield from settings_of(counted, frame)


def _truth(is_true: bool, side: int) -> tuple[bool, bool]:
    return (is_true, not is_true) if side == 0 else (not is_true, is_true)


def _settings_among(branches: Sequence[PlainBranch]) -> int:
    return sum(each.kind == "setting" for each in branches)
