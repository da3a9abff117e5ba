"""Count the rounds of a loop that one of two ranks has left."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import dropwhile, takewhile

from dynascope.facts.comparison.called import Called
from dynascope.facts.comparison.plain_branch import PlainBranch
from dynascope.facts.comparison.plain_code import (
    Loop,
    branches_of,
    function_at,
    has_comprehension,
    is_in_loop,
    is_inside,
    way_of,
)
from dynascope.facts.user_stack import UserFrame

_Key = tuple[tuple[UserFrame, ...], str]


def rounds_called(branch: PlainBranch, calls: tuple[Sequence[Called], Sequence[Called]]) -> tuple[int, int] | None:
    """Return how many rounds of a `for` loop each of two ranks has begun, or None.

    `calls` are the collectives of both, with those at which they part last. The result is None unless each round calls
    the collective once, no other loop is around this one, and the rank that has left it has had fewer rounds.
    """
    loop = _loop_of(branch)
    if not isinstance(loop, ast.For) or branch.is_true is None or not all(calls):
        return None
    inside = int(branch.is_true[1])
    instances = [_latest_in(loop, branch, side) for side in calls]
    key = next((each for call in instances[inside] if (each := _key(loop, branch, call)) is not None), None)
    if key is None:
        return None
    one, other = ([_key(loop, branch, call) for call in side].count(key) for side in instances)
    return (one, other) if (one > other) is (inside == 0) and one != other else None


def _loop_of(branch: PlainBranch) -> Loop | None:
    """Return the loop of a statement, if no other loop of its function is around it."""
    function = function_at(branch.path, [branch.line])
    loops = [each for each in branches_of(function) if isinstance(each, Loop)] if function is not None else []
    found = next((each for each in loops if each.lineno == branch.line), None)
    is_nested = any(is_inside(each, branch.line) for each in loops if each is not found)
    return None if is_nested else found


def _latest_in(loop: Loop, branch: PlainBranch, calls: Sequence[Called]) -> list[Called]:
    """Return the collectives of a rank in the latest run of a loop, if all are known."""

    def is_in_it(called: Called) -> bool:
        return _place(loop, branch, called) is not None

    found = [*takewhile(is_in_it, dropwhile(lambda called: not is_in_it(called), reversed(calls)))]
    return [] if found and found[-1] is calls[0] and calls[0].number > 1 else found


def _place(loop: Loop, branch: PlainBranch, called: Called) -> int | None:
    """Return which of the lines of a collective is in a loop; None without one."""
    here = branch.path, branch.function
    places = enumerate(called.stack)
    return next((at for at, it in places if (it.path, it.function) == here and is_inside(loop, it.line)), None)


def _key(loop: Loop, branch: PlainBranch, called: Called) -> _Key | None:
    """Return the lines, and the parameter, of a collective that each round calls once."""
    at = _place(loop, branch, called)
    if at is None or any(is_in_loop([each]) for each in called.stack[:at]):
        return None
    inner = [step.node for step in way_of(called.stack[at]) if step.node.lineno > loop.lineno]
    is_repeated = any(isinstance(node, Loop) for node in inner) or has_comprehension(called.stack[at])
    is_repeated = is_repeated or any(is_in_loop([each]) for each in called.stack[at + 1 :])
    inner += [step.node for each in called.stack[at + 1 :] for step in way_of(each)]
    if any(map(_may_be_left_out, inner)) or (is_repeated and not called.is_of_parameter):
        return None
    return called.stack, called.element if is_repeated else ""


def _may_be_left_out(node: ast.stmt) -> bool:
    """Whether some rounds may make no call in a statement: an `if`, or `with model.no_sync()`."""
    if isinstance(node, ast.With | ast.AsyncWith):
        return any("sync" in ast.unparse(item.context_expr) for item in node.items)
    if isinstance(node, ast.If | ast.Try | ast.Match):
        return True
    return not hasattr(node, "body") and any(isinstance(each, ast.IfExp | ast.BoolOp) for each in ast.walk(node))
