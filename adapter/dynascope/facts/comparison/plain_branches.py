"""Find the condition of plain Python at which ranks part that call collectives at other lines of one function."""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from dynascope.facts.user_stack import UserFrame

Branching = ast.If | ast.While | ast.For
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module
_MOST_BYTES = 1 << 20
"""The largest source that is read, in bytes."""


class FrameValues(Struct, array_like=True):
    """The values that the conditions of a function read, in a frame of a rank that waits in a collective."""

    path: str
    function: str
    values: dict[str, str]


class PlainBranch(NamedTuple):
    """A condition, or the loop that one rank has left."""

    path: str
    line: int
    function: str
    text: str
    """`step % every == 0`, or of a loop `for batch in loader`."""
    reads: list[str]
    """The names that it reads: `self.step`, `config['every']`."""
    is_loop: bool
    is_true: tuple[bool, bool] | None
    """Whether it is true in each rank, or whether each is in the loop; None where the lines do not tell."""


def names_read(path: str, line: int) -> list[str]:
    """Return the names that the conditions of the function around a line read."""
    function = _function(path, [line])
    nodes = [] if function is None else _branches(function)
    return [*dict.fromkeys(name for node in nodes for name in _names(_asked(node)))]


def branches_apart(ours: Sequence[UserFrame], theirs: Sequence[UserFrame]) -> list[PlainBranch]:
    """Return the conditions that may part two ranks, the likeliest first.

    Each side is the user's lines at which a rank calls a collective, the innermost last.
    """
    pair = _lines_apart(ours, theirs)
    if pair is None:
        return []
    lines = pair[0].line, pair[1].line
    function = _function(pair[0].path, lines)
    if function is None:
        return []
    nodes = _branches(function)
    apart = [node for node in nodes if _parts(node, *lines)]
    loops = [node for node in apart if isinstance(node, ast.While | ast.For)]
    around: Sequence[ast.AST] = loops or [function]
    left = [each for each in nodes if isinstance(each, ast.If) and each not in apart and _leaves(each)]
    exits = [each for each in left if any(each in ast.walk(node) for node in around) and each.lineno < max(lines)]
    return [_branch(node, pair[0], (apart, lines)) for node in (*_conditions_first(apart), *exits)]


def _lines_apart(ours: Sequence[UserFrame], theirs: Sequence[UserFrame]) -> tuple[UserFrame, UserFrame] | None:
    """Return the outermost frames of one function whose lines differ."""
    for our in ours:
        for their in theirs:
            if (our.path, our.function) == (their.path, their.function):
                if our.line != their.line:
                    return our, their
                break
    return None


def _function(path: str, lines: Sequence[int]) -> Function | None:
    """Return the innermost function around some lines of a file, or the module.

    None without its source.
    """
    try:
        with tokenize.open(path) as file:
            text = file.read(_MOST_BYTES + 1)
        tree = ast.parse(text) if len(text) <= _MOST_BYTES else None
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found: Function | None = tree
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and all(_spans(node, line) for line in lines):
            found = node  # an inner one comes later
    return found


def _spans(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _branches(function: Function) -> list[Branching]:
    """Return the conditions and loops of a function, in the order of their lines."""
    found: list[Branching] = []
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(node, Branching):
            found.append(node)
        waiting += ast.iter_child_nodes(node)
    return sorted(found, key=lambda node: node.lineno)


def _parts(node: Branching, one: int, other: int) -> bool:
    """Whether a condition, or a loop that ends before one of two lines, parts them."""
    if _is_inside(node, one) == _is_inside(node, other):
        return False
    return isinstance(node, ast.If) or max(one, other) > (node.end_lineno or node.lineno)


def _is_inside(node: Branching, line: int) -> bool:
    """Whether a line is run where the condition is true."""
    return node.body[0].lineno <= line <= (node.body[-1].end_lineno or node.body[-1].lineno)


def _conditions_first(nodes: Iterable[Branching]) -> list[Branching]:
    """Return conditions before loops, the outermost first."""
    return sorted(nodes, key=lambda node: (not isinstance(node, ast.If), node.lineno))


def _leaves(node: ast.If) -> bool:
    """Whether a side of it leaves its loop, its iteration or the function."""
    last = [side[-1] for side in (node.body, node.orelse) if side]
    return any(isinstance(each, ast.Break | ast.Continue | ast.Return) for each in last)


def _asked(node: Branching) -> ast.expr:
    return node.iter if isinstance(node, ast.For) else node.test


def _branch(node: Branching, frame: UserFrame, at: tuple[Sequence[Branching], tuple[int, int]]) -> PlainBranch:
    apart, lines = at
    is_loop = not isinstance(node, ast.If)
    text = ast.unparse(node).partition("\n")[0].rstrip(":") if is_loop else ast.unparse(_asked(node))
    is_true = (_is_inside(node, lines[0]), _is_inside(node, lines[1])) if node in apart else None
    reads = [*dict.fromkeys(_names(_asked(node)))]
    return PlainBranch(frame.path, node.lineno, frame.function, text, reads, is_loop, is_true)


def _names(node: ast.AST) -> Iterator[str]:
    """Yield the names, attributes and elements that an expression reads, without what it calls."""
    if isinstance(node, ast.Call):
        is_length = isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1
        if is_length and is_path(node.args[0]):
            yield ast.unparse(node)
            return
        parts: list[ast.AST] = [*node.args, *(each.value for each in node.keywords)]
        if isinstance(node.func, ast.Attribute):
            parts.insert(0, node.func.value)
        for part in parts:
            yield from _names(part)
    elif isinstance(node, ast.expr) and is_path(node):
        yield ast.unparse(node)
    else:
        for part in ast.iter_child_nodes(node):
            yield from _names(part)


def is_path(node: ast.expr) -> bool:
    """Whether it is a name, or an attribute or element of one: `self.config['every']`."""
    match node:
        case ast.Name():
            return True
        case ast.Attribute(value=value) | ast.Subscript(value=value, slice=ast.Constant(value=int() | str())):
            return is_path(value)
    return False
