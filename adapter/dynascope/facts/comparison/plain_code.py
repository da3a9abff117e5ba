"""Parse the function around a line of the program, and find what leads to that line."""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from dynascope.facts.user_stack import UserFrame

Branching = ast.If | ast.While | ast.For
Loop = ast.While | ast.For
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module
Entering = ast.With | ast.AsyncWith
_ESCAPE = re.compile(r"""\\(?:(?P<kept>[\\'"\n]|N\{)|(.))""")
_MOST_BYTES = 1 << 20
"""The largest source that is read, in bytes."""


class Step(NamedTuple):
    """A statement on the way to a line: one around it, or one before it that may lead elsewhere."""

    node: ast.stmt
    is_true: bool | None
    """Whether its condition is true on this way; None where it has none."""


def function_at(path: str, lines: Sequence[int]) -> Function | None:
    """Return the innermost function around some lines of a file, or the module.

    None without its source.
    """
    tree = module_at(path)
    found: Function | None = tree
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and all(_spans(node, line) for line in lines):
            found = node  # an inner one comes later
    return found


@lru_cache(2)
def module_at(path: str) -> ast.Module | None:
    """Return what a file contains; None where it cannot be read, or is too large."""
    try:
        with tokenize.open(path) as file:
            text = file.read(_MOST_BYTES + 1)
        return ast.parse(without_escapes(text)) if len(text) <= _MOST_BYTES else None
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def without_escapes(text: str) -> str:
    """Return source without escape sequences of which Python may warn."""
    return _ESCAPE.sub(lambda found: found[0] if found["kept"] else f"/{found[2]}", text)


def statements_of(function: Function | ast.stmt) -> list[ast.stmt]:
    """Return the statements in a function or statement by line, without functions in it."""
    found: list[ast.stmt] = []
    waiting: list[ast.AST] = [*ast.iter_child_nodes(function)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(node, ast.stmt):
            found.append(node)
        waiting += ast.iter_child_nodes(node)
    return sorted(found, key=lambda node: node.lineno)


def branches_of(function: Function) -> list[Branching]:
    """Return the conditions and loops of a function, by line."""
    return [node for node in statements_of(function) if isinstance(node, Branching)]


def way_to(function: Function, line: int) -> list[Step]:
    """Return what leads to a line.

    It is the statements around it, and before it conditions that may lead elsewhere, contexts, and `try`.
    """
    steps: list[Step] = []
    block: Sequence[ast.stmt] = function.body
    while block:
        inner: Sequence[ast.stmt] = ()
        for node in block:
            if _spans(node, line):
                steps.append(Step(node, is_inside(node, line) if isinstance(node, Branching) else None))
                inner = next((each for each in blocks_of(node) if any(_spans(one, line) for one in each)), ())
                break
            if isinstance(node, ast.If) and leaves(node):
                steps.append(Step(node, not _ends_with_leaving(node.body)))
            elif isinstance(node, Entering | ast.Try):
                steps.append(Step(node, None))
        block = inner
    return steps


def way_of(frame: UserFrame) -> list[Step]:
    function = function_at(frame.path, [frame.line])
    return way_to(function, frame.line) if function is not None else []


def changes_in(path: str, name: str) -> bool:
    """Whether a file assigns to a name several times, as a loop does."""
    module, assigned = module_at(path), 0
    for node in ast.walk(module) if module is not None else ():
        match node:
            case ast.AugAssign(target=ast.Name(id=found)) | ast.For(target=ast.Name(id=found)) if found == name:
                return True
            case ast.Name(id=found, ctx=ast.Store()) if found == name:
                assigned += 1
    return assigned > 1


def is_same_function(one: UserFrame, other: UserFrame) -> bool:
    """Whether two lines are of one function."""
    return (one.path, one.function) == (other.path, other.function)


def is_in_loop(frames: Sequence[UserFrame]) -> bool:
    """Whether a rank is in a loop of a function, and so may call from the same line again."""
    is_loop = bool(frames) and any(isinstance(step.node, Loop) and step.is_true for step in way_of(frames[0]))
    return is_loop or (bool(frames) and has_comprehension(frames[0]))


def has_comprehension(frame: UserFrame) -> bool:
    """Whether a line is one of a statement that goes through something in an expression."""
    way = way_of(frame)
    kinds = ast.ListComp | ast.GeneratorExp | ast.DictComp | ast.SetComp
    return (
        bool(way)
        and not hasattr(way[-1].node, "body")
        and any(isinstance(each, kinds) for each in ast.walk(way[-1].node))
    )


def blocks_of(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of statements in a statement."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield block
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body


def _spans(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def is_inside(node: Branching, line: int) -> bool:
    """Whether a line is run where the condition is true."""
    return node.body[0].lineno <= line <= (node.body[-1].end_lineno or node.body[-1].lineno)


def leaves(node: ast.If) -> bool:
    """Whether a side of it leaves its loop, its iteration or the function."""
    return any(map(_ends_with_leaving, (node.body, node.orelse)))


def _ends_with_leaving(block: Sequence[ast.stmt]) -> bool:
    return bool(block) and isinstance(block[-1], ast.Break | ast.Continue | ast.Return)


def is_until_false(loop: ast.AST, path: str) -> bool:
    """Whether a rank that is not in a `while` loop has found its condition false.

    A `break`, an error or a `return` before it leads elsewhere; and where a generator goes on, its caller decides.
    """
    function = function_at(path, [loop.lineno]) if isinstance(loop, ast.While) else None
    if function is None or not isinstance(loop, ast.While) or isinstance(loop.test, ast.Constant):
        return False
    before = [step for step in way_to(function, loop.body[0].lineno) if step.node is not loop]
    is_open = any(isinstance(step.node, ast.Try) or step.is_true is not None for step in before)
    leaves_it = any(isinstance(each, ast.Break | ast.Return | ast.Raise) for each in statements_of(loop))
    return not (is_open or leaves_it or any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(function)))


def condition_of(node: Branching) -> ast.expr:
    """Return the condition, or what a loop goes through."""
    return node.iter if isinstance(node, ast.For) else node.test


def head_of(node: ast.stmt) -> str:
    """Return the first line of a statement, as `ast` writes it: `for batch in loader`."""
    return ast.unparse(node).partition("\n")[0].rstrip(":")


def names_in(node: ast.AST) -> Iterator[str]:
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
            yield from names_in(part)
    elif isinstance(node, ast.expr) and is_path(node):
        yield ast.unparse(node)
    else:
        for part in ast.iter_child_nodes(node):
            yield from names_in(part)


def is_path(node: ast.expr) -> bool:
    """Whether it is a name, or an attribute or element of one: `self.config['every']`."""
    match node:
        case ast.Name():
            return True
        case ast.Attribute(value=value) | ast.Subscript(value=value, slice=ast.Constant(value=int() | str())):
            return is_path(value)
    return False
