"""Find the condition on which a program raises an error that a handler of its own file takes, and such handlers."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dynascope.facts.comparison.plain_branch import PlainBranch
from dynascope.facts.comparison.plain_branches import last_alike
from dynascope.facts.comparison.plain_code import Branching, branches_of, module_at, statements_of, way_of
from dynascope.facts.comparison.plain_reads import read_in
from dynascope.facts.user_stack import UserFrame


def handlers_apart(ours: Sequence[UserFrame], theirs: Sequence[UserFrame]) -> Iterator[PlainBranch]:
    """Yield the condition that raises an error in one of two ranks, else its handler.

    The ranks are at these lines, one of them in the handler, the other in its `try`, after it, or out of the function.
    """
    at = last_alike(ours, theirs)
    if at is None:
        return
    frames = ours[at[0]], theirs[at[1]]
    for side, frame in enumerate(frames):
        for node, handler in _handlers_around(frame):
            if _spans(node.body, other := frames[1 - side].line) or other > (node.end_lineno or other):
                yield _raised(handler, frame, side)
    for side, callees in enumerate((ours[at[0] + 1 :], theirs[at[1] + 1 :])):
        for frame in callees:
            yield from (_raised(handler, frame, side) for _, handler in _handlers_around(frame))


def leaving_handlers(ours: Sequence[UserFrame], theirs: Sequence[UserFrame]) -> Iterator[PlainBranch]:
    """Yield the handlers by which a rank may have left before a line of the other.

    That line is in the `try`, or after one whose handler returns.
    """
    at = last_alike(ours, theirs)
    if at is None:
        return
    for side, (here, place) in enumerate(((ours, at[0]), (theirs, at[1]))):
        other = (theirs, ours)[side][at[1 - side]]
        ways = [(frame, way_of(frame)) for frame in here[place:]]
        is_only = not any(isinstance(step.node, Branching) for _, way in ways for step in way)
        for number, (frame, way) in enumerate(ways):
            for step in way:
                node = step.node
                if not isinstance(node, ast.Try) or (number == 0 and other.line <= (node.end_lineno or 0)):
                    continue
                is_inside = _spans(node.body, frame.line)
                for handler in node.handlers:
                    if is_inside or (number and isinstance(handler.body[-1], ast.Return)):
                        found = _raised(handler, frame, 1 - side)
                        reads = found.reads or [*dict.fromkeys(read_in(node.body))]
                        yield found._replace(side=side if number else None, is_only=is_only, reads=reads)


def _handlers_around(frame: UserFrame) -> Iterator[tuple[ast.Try, ast.ExceptHandler]]:
    for step in way_of(frame):
        if isinstance(step.node, ast.Try):
            yield from ((step.node, each) for each in step.node.handlers if _spans(each.body, frame.line))


def _raised(handler: ast.ExceptHandler, frame: UserFrame, side: int) -> PlainBranch:
    """Return the condition that raises what a handler takes in one rank, else the handler."""
    raised = condition_of_error(frame.path, ast.unparse(handler.type)) if handler.type is not None else None
    text = f"except {ast.unparse(handler.type)}" if handler.type is not None else "except"
    found = raised or PlainBranch(frame.path, handler.lineno, frame.function, text, [], "except", None)
    return found._replace(is_true=(side == 0, side == 1), is_only=True)


def _spans(block: Sequence[ast.stmt], line: int) -> bool:
    return block[0].lineno <= line <= (block[-1].end_lineno or block[-1].lineno)


def condition_of_error(path: str, error: str) -> PlainBranch | None:
    """Return the `if` that raises an error, `ValueError`.

    None where the file raises it at no line, or at several.
    """
    module = module_at(path)
    functions = (node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)) if module is not None else ()
    found = [(function, node) for function in functions for node in branches_of(function) if _raises(node, error)]
    all_raised = [node for node in ast.walk(module) if _is_of(node, error)] if module is not None else []
    if len(found) != 1 or len(all_raised) != 1:
        return None
    function, node = found[0]
    assert isinstance(node, ast.If)
    return PlainBranch(path, node.lineno, function.name, ast.unparse(node.test), [], "condition", None)


def _raises(node: ast.stmt, error: str) -> bool:
    return isinstance(node, ast.If) and any(_is_of(each, error) for each in _of_body(node))


def _of_body(node: ast.If) -> Iterator[ast.stmt]:
    for each in node.body:
        yield each
        yield from statements_of(each)


def _is_of(node: ast.AST, error: str) -> bool:
    match node:
        case ast.Raise(exc=ast.Call(func=raised)) | ast.Raise(exc=ast.Name() | ast.Attribute() as raised):
            return ast.unparse(raised) == error
    return False
