"""Find what in plain Python parts ranks that call other collectives, or call them at other lines of one function."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dynascope.facts.comparison.plain_branch import EarlierCall, PlainBranch, branch_of, truth_by_side
from dynascope.facts.comparison.plain_code import (
    Branching,
    Function,
    Loop,
    branches_of,
    condition_of,
    function_at,
    has_comprehension,
    head_of,
    is_in_loop,
    is_inside,
    is_same_function,
    leaves,
    names_in,
    statements_of,
    way_of,
)
from dynascope.facts.comparison.plain_expressions import comprehensions_left, operands_before
from dynascope.facts.comparison.plain_operands import at_one_line, passed_at
from dynascope.facts.comparison.plain_reads import assigned_in, bound_at, noted_by, settings_in
from dynascope.facts.user_stack import UserFrame


def branches_apart(
    ours: Sequence[UserFrame], theirs: Sequence[UserFrame], earlier: EarlierCall | None = None
) -> list[PlainBranch]:
    """Return what may part two ranks, the likeliest first.

    Each side is the user's lines at which a rank calls a collective, the innermost last.
    """
    before, is_anew = ((), (False, False)) if earlier is None else (earlier.stack, earlier.is_anew)
    at = last_alike(ours, theirs)
    if at is None:
        return []
    frames = ours[at[0]], theirs[at[1]]
    if frames[0].line == frames[1].line:
        if at == (len(ours) - 1, len(theirs) - 1):
            return [*at_one_line(ours[: at[0] + 1])]
        # the line calls a function that one rank has left, or both are in different ones
        return [*in_callees(ours[at[0] + 1 :], 0), *in_callees(theirs[at[1] + 1 :], 1)]
    lines = frames[0].line, frames[1].line
    function = function_at(frames[0].path, lines)
    if function is None:
        return []
    # lines after the one at which they have met come first; those before it, in the next turn of a loop
    callees = ours[at[0] + 1 :], theirs[at[1] + 1 :]
    met = next((before[place:] for place, each in enumerate(before) if is_same_function(each, frames[0])), ())
    is_later = [
        anew or _is_later((each, *below), met) for each, below, anew in zip(frames, callees, is_anew, strict=True)
    ]
    nearer = min((0, 1), key=lambda side: (is_later[side], lines[side]))
    below = callees[nearer]
    conditions, loops, exits = _in_function(function, lines)
    # a rank in a loop has not come to conditions after it
    conditions = [node for node in conditions if all(node.lineno <= (loop.end_lineno or 0) for loop in loops)]
    found = [branch_of(node, frames[0], _truth(node, lines)) for node in conditions]
    found += in_callees(below, nearer)
    for loop in loops:
        found += [*_leaving(loop, frames[0]), *_handlers(loop, frames[0])]
        found.append(branch_of(loop, frames[0], _truth(loop, lines))._replace(handler=_silent_handler(loop)))
        found += [*settings_of(loop, frames[0]), *_passing(loop, frames[0], max(lines))]
    found += [branch_of(node, frames[0], None) for node in exits]
    found += in_callees(callees[1 - nearer], 1 - nearer)
    if any(isinstance(step.node, ast.Try) for each in (*ours[at[0] :], *theirs[at[1] :]) for step in way_of(each)):
        found = [each._replace(is_until_false=False) for each in found]  # an error may have ended its function
    return found or [*passed_at(min(frames, key=lambda frame: frame.line))]


def _is_later(frames: Sequence[UserFrame], met: Sequence[UserFrame]) -> bool:
    """Whether a rank calls in a later turn of a loop than that of the collective before.

    Both are lines from one function on, the innermost last.
    """
    if not met or frames[0].line != met[0].line:
        return bool(met) and frames[0].line < met[0].line
    if has_comprehension(frames[0]) or is_in_loop(frames[1:]):
        return False
    inner = (pair for pair in zip(frames[1:], met[1:], strict=False) if pair[0].line != pair[1].line)
    one, other = next(inner, (None, None))
    return one is None or other is None or not is_same_function(one, other) or one.line < other.line


def last_alike(ours: Sequence[UserFrame], theirs: Sequence[UserFrame]) -> tuple[int, int] | None:
    """Return the places of the last frames that are of one function in both ranks."""
    both = [(i, j) for i, our in enumerate(ours) for j, their in enumerate(theirs) if is_same_function(our, their)]
    if not both:
        return None
    i, j = both[0]
    while ours[i].line == theirs[j].line and (i + 1, j + 1) in both:
        i, j = i + 1, j + 1
    return i, j


def _in_function(function: Function, lines: tuple[int, int]) -> tuple[list[ast.If], list[Loop], list[ast.If]]:
    """Return the conditions and loops that part two lines, and other conditions that leave."""
    nodes = branches_of(function)
    apart = [node for node in nodes if _parts(node, *lines)]
    loops = [node for node in apart if isinstance(node, Loop)]
    around: Sequence[ast.AST] = loops or [function]
    left = [each for each in nodes if isinstance(each, ast.If) and each not in apart and leaves(each)]
    exits = [each for each in left if any(each in ast.walk(node) for node in around) and each.lineno < max(lines)]
    in_loops = {node for loop in loops for node in _breaks(loop)}
    return (
        [node for node in apart if isinstance(node, ast.If)],
        loops,
        [each for each in exits if each not in in_loops],
    )


def _parts(node: Branching, one: int, other: int) -> bool:
    """Whether a condition, or a loop that ends before one of two lines, parts them."""
    if is_inside(node, one) == is_inside(node, other):
        return False
    return isinstance(node, ast.If) or max(one, other) > (node.end_lineno or node.lineno)


def _truth(node: Branching, lines: tuple[int, int]) -> tuple[bool, bool]:
    return is_inside(node, lines[0]), is_inside(node, lines[1])


def in_callees(frames: Sequence[UserFrame], side: int) -> Iterator[PlainBranch]:
    """Yield the conditions in functions that one rank has left without a collective."""
    loops: list[PlainBranch] = []
    for number, frame in enumerate(frames):
        called = frames[number + 1].function if number + 1 < len(frames) else ""
        yield from operands_before(frame, called, side)
        loops += comprehensions_left(frame, side)
        for node, is_true in way_of(frame):
            truth = truth_by_side(bool(is_true), side)
            if isinstance(node, ast.If):
                yield branch_of(node, frame, truth)._replace(side=side)
            elif isinstance(node, ast.Try):
                yield from (each._replace(side=side) for each in _handlers_of(node, frame, may_return=True))
            elif isinstance(node, Loop) and is_true:
                loop = branch_of(node, frame, truth)
                reads = [*bound_at(node), *loop.reads]
                yield from (each._replace(side=side) for each in _handlers(node, frame))
                if (leaving := _only_way_out(node, frame)) is not None:
                    yield leaving._replace(side=side, is_true=(False, True) if side == 0 else (True, False))
                loops.append(loop._replace(side=side, reads=reads))
            elif isinstance(node, Loop):  # the line is in its `else`, to which no `break` leads
                yield from (branch_of(each, frame, truth)._replace(side=side) for each in _breaks(node))
    yield from loops
    for frame in frames:
        around: list[Loop | Function] = [
            step.node for step in way_of(frame) if isinstance(step.node, Loop) and step.is_true
        ]
        function = function_at(frame.path, [frame.line])
        for block in around or ([function] if function is not None else []):
            yield from (each._replace(side=side) for each in settings_of(block, frame))


def _only_way_out(loop: Loop, frame: UserFrame) -> PlainBranch | None:
    """Return the condition by which alone a loop is left before its last round.

    None for a loop whose round is not known: it is that of `range(epochs)`, or one without a last round.
    """
    breaks = _breaks(loop)
    if len(breaks) != 1 or any(isinstance(each, ast.Return) for each in statements_of(loop)):
        return None
    branch, rounds = branch_of(breaks[0], frame, None), ""
    match loop:
        case ast.While(test=ast.Constant()):
            pass
        case ast.For(target=ast.Name(id=number), iter=ast.Call(func=ast.Name(id="range"), args=[count])):
            rounds = f"{number} < ({ast.unparse(count)}) - 1"
        case _:
            return None
    read = [*branch.reads, *bound_at(loop), *names_in(condition_of(loop))]
    return branch._replace(reads=[*dict.fromkeys(read)], goes_on=rounds)


def settings_of(loop: Loop | Function, frame: UserFrame) -> Iterator[PlainBranch]:
    """Yield the statements in a loop or function that read what it does not assign."""
    assigned = assigned_in(loop)
    for node in statements_of(loop):
        if reads := [name for name in dict.fromkeys(settings_in(node)) if name not in assigned]:
            yield PlainBranch(frame.path, node.lineno, frame.function, head_of(node), reads, "setting", None)


def _leaving(loop: Loop, frame: UserFrame) -> Iterator[PlainBranch]:
    for node in _breaks(loop):
        yield branch_of(node, frame, None)._replace(kind="break")


def _breaks(loop: Loop) -> list[ast.If]:
    """Return the conditions that leave a loop by `break`."""
    inner = [node for node in statements_of(loop) if isinstance(node, Loop)]
    within = {each for node in inner for each in statements_of(node)}
    conditions = [node for node in statements_of(loop) if isinstance(node, ast.If) and node not in within]
    return [node for node in conditions if any(isinstance(each, ast.Break) for each in (*node.body, *node.orelse))]


def _handlers(loop: Loop, frame: UserFrame) -> Iterator[PlainBranch]:
    """Yield the handlers and conditions in a loop that note something, and go on."""
    for node in statements_of(loop):
        if isinstance(node, ast.Try):
            yield from _handlers_of(node, frame)
        elif isinstance(node, ast.If):
            yield from _noted(node, frame)


def _handlers_of(node: ast.Try, frame: UserFrame, may_return: bool = False) -> Iterator[PlainBranch]:
    for handler in node.handlers:
        reads = [*dict.fromkeys(noted_by(handler.body))]
        if reads and _goes_on(handler.body, may_return):
            yield PlainBranch(frame.path, handler.lineno, frame.function, _head(handler), reads, "except", None)


def _silent_handler(loop: Loop) -> tuple[int, str] | None:
    tried = [node for node in statements_of(loop) if isinstance(node, ast.Try)]
    handlers = (
        each for node in tried for each in node.handlers if _goes_on(each.body) and not any(noted_by(each.body))
    )
    return next(((each.lineno, _head(each)) for each in handlers), None)


def _passing(loop: Loop, frame: UserFrame, line: int) -> Iterator[PlainBranch]:
    """Yield the conditions before a line of a loop that pass an element by, and count nothing."""
    for node in statements_of(loop):
        goes_on = isinstance(node, ast.If) and isinstance(node.body[-1], ast.Continue) and node.lineno < line
        if isinstance(node, ast.If) and goes_on and not any(noted_by(node.body)):
            yield branch_of(node, frame, None)._replace(kind="passes")


def _noted(node: ast.If, frame: UserFrame) -> Iterator[PlainBranch]:
    """Yield a condition that skips what follows in a loop, and counts how often."""
    reads = [*dict.fromkeys(noted_by(node.body))]
    if reads and isinstance(node.body[-1], ast.Continue):
        yield PlainBranch(frame.path, node.lineno, frame.function, ast.unparse(node.test), reads, "noted", None)


def _goes_on(block: Sequence[ast.stmt], may_return: bool = False) -> bool:
    leaving = (ast.Raise, ast.Break) if may_return else (ast.Raise, ast.Break, ast.Return)
    return not any(isinstance(each, leaving) for each in block)


def _head(handler: ast.ExceptHandler) -> str:
    return f"except {ast.unparse(handler.type)}" if handler.type is not None else "except"
