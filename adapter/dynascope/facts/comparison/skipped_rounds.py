"""Find what has kept a rank from calling a collective in a round of a loop in which another rank calls it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dynascope.facts.comparison.called import Round
from dynascope.facts.comparison.plain_branch import PlainBranch, branch_of, truth_by_side
from dynascope.facts.comparison.plain_branches import in_callees, settings_of
from dynascope.facts.comparison.plain_code import Loop, way_of
from dynascope.facts.comparison.plain_reads import assigned_in, bound_at, counted_at
from dynascope.facts.comparison.raised_errors import condition_of_error
from dynascope.facts.user_stack import UserFrame


def skipping_round(stack: Sequence[UserFrame], loop: Round, side: int) -> Iterator[PlainBranch]:
    """Yield what may decide whether a rank calls a collective in a round, the likeliest first.

    `stack` has the user's lines at which a rank, `side` 0 or 1 of the two, calls it in an earlier round than the other.
    """
    loops = (
        (place, counter.loop)
        for place, each in enumerate(stack)
        for counter in counted_at(each.path, each.line)
        if (each.function, counter.name) == (loop.function, loop.name)
    )
    found_loop = next(loops, None)
    if found_loop is None:
        return
    at, counted = found_loop
    frame = stack[at]
    assigned = frozenset(assigned_in(counted))
    inner = [step for step in way_of(frame) if step.node.lineno > counted.lineno]
    conditions = [
        branch_of(node, frame, truth_by_side(bool(is_true), side))._replace(side=side, assigned=assigned)
        for node, is_true in inner
        if isinstance(node, ast.If)
    ]
    in_loops = [
        loop._replace(side=side, assigned=assigned, reads=[*bound_at(node), *loop.reads])
        for node, is_true in inner
        if isinstance(node, Loop) and is_true
        for loop in [branch_of(node, frame, truth_by_side(True, side))]
    ]
    tried = [step.node for step in inner if isinstance(step.node, ast.Try)]
    handled = [each for node in tried for each in _handled(node, frame, side)]
    found = [*conditions, *handled, *in_callees(stack[at + 1 :], side), *in_loops]
    is_only = sum(each.kind != "setting" for each in found) == 1
    yield from (each._replace(is_only=is_only and each.kind != "setting") for each in found)
    yield from settings_of(counted, frame)


def _handled(node: ast.Try, frame: UserFrame, side: int) -> Iterator[PlainBranch]:
    """Yield conditions that raise errors whose handlers leave a round, else the handlers."""
    for handler in node.handlers:
        if isinstance(handler.body[-1], ast.Continue | ast.Break | ast.Return):
            raised = condition_of_error(frame.path, ast.unparse(handler.type)) if handler.type is not None else None
            if raised is not None:
                yield raised._replace(is_true=truth_by_side(False, side))
            else:
                text = f"except {ast.unparse(handler.type)}" if handler.type is not None else "except"
                yield PlainBranch(frame.path, handler.lineno, frame.function, text, [], "except", None)
