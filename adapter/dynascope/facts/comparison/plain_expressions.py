"""Find what decides in an expression whether a call in it is made: operands before it, and comprehensions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynascope.facts.comparison.called_predicates import names_asked
from dynascope.facts.comparison.plain_branch import PlainBranch, truth_by_side
from dynascope.facts.comparison.plain_code import names_in, way_of
from dynascope.facts.user_stack import UserFrame


def elements_left_out(frame: UserFrame) -> Iterator[PlainBranch]:
    """Yield the conditions by which a comprehension at a line leaves elements out."""
    for each in (each for one in _comprehensions(frame) for each in one.ifs):
        text = ast.unparse(ast.UnaryOp(ast.Not(), each))
        yield PlainBranch(frame.path, each.lineno, frame.function, text, _read(frame, each), "skips", None)


def comprehensions_left(frame: UserFrame, side: int) -> Iterator[PlainBranch]:
    """Yield the comprehensions at a line in which one rank, 0 or 1 of two, is."""
    for each in _comprehensions(frame):
        targets = [one.id for one in ast.walk(each.target) if isinstance(one, ast.Name)]
        text, elements = f"for {ast.unparse(each.target)} in {ast.unparse(each.iter)}", ast.unparse(each.iter)
        reads = [*targets, *_read(frame, each.iter)]
        found = PlainBranch(
            frame.path, each.iter.lineno, frame.function, text, reads, "loop", truth_by_side(True, side)
        )
        yield found._replace(side=side, elements=elements)


def alternatives(expression: ast.expr, frame: UserFrame) -> Iterator[PlainBranch]:
    """Yield the conditions by which an expression has one value or another."""
    for each in ast.walk(expression):
        if isinstance(each, ast.IfExp):
            text = ast.unparse(each.test)
            yield PlainBranch(frame.path, each.lineno, frame.function, text, _read(frame, each.test), "condition", None)


def operands_before(frame: UserFrame, called: str, side: int) -> Iterator[PlainBranch]:
    """Yield the operands and conditions of a line on which one rank makes a call.

    `called` is the function that is called, "" for one that is no function of the program.
    """
    statement = _statement(frame)
    for node in ast.walk(statement) if statement is not None else ():
        match node:
            case ast.BoolOp(op=op, values=values):
                at = next((at for at, each in enumerate(values) if at and _calls(each, called)), 0)
                for each in values[:at]:
                    yield _condition(frame, each, isinstance(op, ast.And), side)
            case ast.IfExp(test=test, body=body, orelse=other) if _calls(body, called) != _calls(other, called):
                yield _condition(frame, test, _calls(body, called), side)


def _condition(frame: UserFrame, node: ast.expr, is_true: bool, side: int) -> PlainBranch:
    """Return a condition with its truth in the rank that makes the call."""
    text, reads = ast.unparse(node), _read(frame, node)
    found = PlainBranch(frame.path, node.lineno, frame.function, text, reads, "condition", truth_by_side(is_true, side))
    return found._replace(side=side)


def _calls(node: ast.expr, called: str) -> bool:
    """Whether an expression calls a function."""
    calls = (each for each in ast.walk(node) if isinstance(each, ast.Call))
    return any(not called or ast.unparse(each.func).rpartition(".")[2] == called for each in calls)


def _comprehensions(frame: UserFrame) -> list[ast.comprehension]:
    statement = _statement(frame)
    nodes = ast.walk(statement) if statement is not None else ()
    return [each for each in nodes if isinstance(each, ast.comprehension)]


def _statement(frame: UserFrame) -> ast.stmt | None:
    """Return the statement at a line, if it has no blocks."""
    way = way_of(frame)
    return way[-1].node if way and not hasattr(way[-1].node, "body") else None


def _read(frame: UserFrame, node: ast.expr) -> list[str]:
    return [*dict.fromkeys([*names_in(node), *names_asked(frame.path, node)])]
