"""Find what gives two ranks other operands at a line that both run: elements of a loop, conditions, contexts."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Sequence
from itertools import chain

from dynascope.facts.comparison.plain_branch import PlainBranch, branch_of
from dynascope.facts.comparison.plain_code import (
    Entering,
    Step,
    function_at,
    head_of,
    is_same_function,
    statements_of,
    way_of,
)
from dynascope.facts.comparison.plain_expressions import alternatives, elements_left_out
from dynascope.facts.comparison.plain_reads import bound_at, elements_read, read_at
from dynascope.facts.user_stack import UserFrame


def at_one_line(frames: Sequence[UserFrame]) -> Iterator[PlainBranch]:
    """Yield what may give ranks other operands at one line, the innermost function first."""
    for frame in reversed(frames):
        way = way_of(frame)
        yield from elements_left_out(frame)
        found = (_skipping, _loop_of_element, _assigning, _contexts)
        yield from chain.from_iterable(find(way, frame) for find in found)
        call = _call(frame, way)
        if frame is not frames[-1]:  # a rank passes its number to its own functions by right
            call = call._replace(reads=[name for name in call.reads if "rank" not in name])
        yield call


def _assigning(way: Sequence[Step], frame: UserFrame) -> Iterator[PlainBranch]:
    """Yield the conditions before a line that assign a name that it reads, the nearest first."""
    function = function_at(frame.path, [frame.line])
    read = {*read_at([step.node for step in way])}
    statements = statements_of(function) if function is not None and read else []
    before = [node for node in statements if (node.end_lineno or node.lineno) < frame.line]
    for node in reversed(before):
        if isinstance(node, ast.If) and any(_assigns(each, read) for each in statements_of(node)):
            yield branch_of(node, frame, None)
        elif isinstance(node, ast.Assign) and _assigns(node, read):
            yield from alternatives(node.value, frame)


def _assigns(node: ast.stmt, names: Container[str]) -> bool:
    """Whether a statement assigns to one of some names."""
    return isinstance(node, ast.Assign | ast.AugAssign) and any(ast.unparse(each) in names for each in _targets(node))


def _targets(node: ast.Assign | ast.AugAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _loop_of_element(way: Sequence[Step], frame: UserFrame) -> Iterator[PlainBranch]:
    """Yield the innermost loop around a line that reads an element of it."""
    loop = next((node for node, is_true in reversed(way) if isinstance(node, ast.For) and is_true), None)
    if loop is not None and elements_read(frame.path, frame.line):
        yield branch_of(loop, frame, None)._replace(kind="elements")


def _skipping(way: Sequence[Step], frame: UserFrame) -> Iterator[PlainBranch]:
    """Yield the conditions that skip elements of a loop, with the names of its elements."""
    targets: list[str] = []
    for node, _ in way:
        if isinstance(node, ast.For):
            targets = [*bound_at(node)]
        elif isinstance(node, ast.If) and targets and any(isinstance(each, ast.Continue) for each in node.body):
            yield PlainBranch(frame.path, node.lineno, frame.function, ast.unparse(node.test), targets, "skips", None)


def _contexts(way: Sequence[Step], frame: UserFrame) -> Iterator[PlainBranch]:
    for node, _ in reversed(way):
        if isinstance(node, Entering):
            reads = [*dict.fromkeys(bound_at(node))]
            yield PlainBranch(frame.path, node.lineno, frame.function, head_of(node), reads, "with", None)


def decides_elements(frame: UserFrame, may_skip: bool) -> PlainBranch | None:
    """Return what decides for which element of a loop a line is reached.

    It is the loop, or a condition that skips elements, if that may be; None without a loop.
    """
    way = way_of(frame)
    skipping = [*_skipping(way, frame)] if may_skip else []
    return next(iter([*skipping[-1:], *_loop_of_element(way, frame)]), None)


def operands(ours: Sequence[UserFrame], theirs: Sequence[UserFrame]) -> Iterator[PlainBranch]:
    """Yield the lines at which each rank calls its collective, where they are not one line."""
    if not ours or not theirs or ours[-1] == theirs[-1]:
        return
    for side, (frame, others) in enumerate(((ours[-1], theirs), (theirs[-1], ours))):
        is_alone = not any(is_same_function(frame, other) for other in others)
        yield _call(frame, way_of(frame))._replace(kind="operand", side=side if is_alone else None)


def passed_at(frame: UserFrame) -> Iterator[PlainBranch]:
    """Yield the call at a line, for the values that it reads."""
    call = _call(frame, way_of(frame))
    yield call._replace(reads=[name for name in call.reads if "rank" not in name])


def _call(frame: UserFrame, way: Sequence[Step]) -> PlainBranch:
    reads = [*dict.fromkeys(read_at([step.node for step in way]))]
    return PlainBranch(frame.path, frame.line, frame.function, "", reads, "call", None)
