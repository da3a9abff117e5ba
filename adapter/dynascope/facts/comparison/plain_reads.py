"""Find the names that code reads: at a line, in conditions and loops of its function, and of elements of loops."""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from dynascope.facts.comparison.called_predicates import names_asked
from dynascope.facts.comparison.plain_code import (
    Branching,
    Entering,
    Function,
    Loop,
    branches_of,
    condition_of,
    function_at,
    module_at,
    names_in,
    statements_of,
    way_to,
)

ROOT = re.compile(r"(len\()?([A-Za-z_]\w*)")
"""The variable with which a name begins, `len(self.items)`: its second group."""
_WRAPS = re.compile("shard|wrap|parallel|register_comm_hook", re.IGNORECASE)


@lru_cache(1024)
def names_read(path: str, line: int) -> list[str]:
    """Return the names that are read at a line, and where its function may part ranks."""
    function = function_at(path, [line])
    if function is None:
        return []
    asked = [condition_of(node) for node in branches_of(function)]
    conditions = [name for each in asked for name in (*names_in(each), *names_asked(path, each))]
    way = [step.node for step in way_to(function, line)]
    around = [name for node in way for name in bound_at(node)]
    statements = statements_of(function)
    blocks = (block for node in statements for block in _noting(node))
    noted = [name for block in blocks for name in noted_by(block)]
    tried = [name for node in way if isinstance(node, ast.Try) for name in read_in(node.body)]
    loops = (node for node in statements if isinstance(node, Loop))
    settings = [name for loop in loops for node in statements_of(loop) for name in settings_in(node)]
    passed = [name for each in wrapping_calls(path, function) for given in each.given for name in names_in(given)]
    return [*dict.fromkeys([*conditions, *around, *noted, *read_at(way), *passed, *tried, *settings])]


@lru_cache(64)
def globals_read(path: str) -> list[str]:
    """Return the global variables, and attributes of them, by which functions of a file decide."""
    module = module_at(path)
    if module is None:
        return []
    read: dict[str, None] = {}
    for function in (each for each in ast.walk(module) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)):
        kept = global_names(path, function.lineno)
        for statement in statements_of(function):
            elements = names_in(statement.iter) if isinstance(statement, ast.For) else ()
            read |= dict.fromkeys(name for name in (*settings_in(statement), *elements) if is_global(name, kept))
    return [*read]


def is_global(name: str, kept: Container[str]) -> bool:
    """Whether a name begins with one of the global variables `kept`.

    A length does not: it often changes.
    """
    root = ROOT.match(name)
    return root is not None and not root[1] and root[2] in kept


@lru_cache(1024)
def global_names(path: str, line: int) -> frozenset[str]:
    """Return the global variables that the function at a line may read, and that do not vary."""
    module = module_at(path)
    if module is None:
        return frozenset()
    hidden, changed = set[str](), set[str]()
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.lineno <= line <= (node.end_lineno or 0):
            hidden |= assigned_in(node) | {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
        elif isinstance(node, ast.Global):
            changed |= {*node.names}
    for node in statements_of(module):
        if isinstance(node, ast.AugAssign | Loop):
            changed |= assigned_in(node)
    return frozenset(assigned_in(module) - hidden - changed)


class WrappingCall(NamedTuple):
    """A call of a function that wraps modules, as by `fully_shard` (torch 2.6)."""

    line: int
    function: str
    branches: list[Branching]
    """The conditions and loops in which it wraps them."""
    parameters: list[str]
    given: list[ast.expr]


def wrapping_calls(path: str, function: Function) -> list[WrappingCall]:
    """Return calls of functions of the file that wrap modules in a condition or loop."""
    module = module_at(path)
    known = {each.name: each for each in module.body if isinstance(each, ast.FunctionDef)} if module is not None else {}
    made = []
    for statement in statements_of(function):
        for each in ast.walk(statement) if not hasattr(statement, "body") else ():
            callee = known.get(each.func.id) if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) else None
            if callee is not None and isinstance(each, ast.Call) and (branches := branches_that_wrap(callee)):
                names = [one.arg for one in callee.args.args]
                made.append(WrappingCall(statement.lineno, callee.name, branches, names, each.args))
    return made


def branches_that_wrap(function: Function) -> list[Branching]:
    """Return the conditions and loops of a function in which modules are wrapped."""
    return [
        node
        for node in branches_of(function)
        if any(
            _WRAPS.search(ast.unparse(each.func))
            for part in node.body
            for each in ast.walk(part)
            if isinstance(each, ast.Call)
        )
    ]


@lru_cache(1024)
def elements_read(path: str, line: int) -> tuple[str, ...]:
    """Return the target names of `for` loops around a line that reads one, or a part of it."""
    function = function_at(path, [line])
    way = way_to(function, line) if function is not None else []
    loops = [step.node for step in way if step.is_true and isinstance(step.node, ast.For)]
    names = [name for loop in loops for name in bound_at(loop)]
    if not names or hasattr(way[-1].node, "body"):
        return ()
    parts = {*names}
    for node in statements_of(loops[0]):
        if isinstance(node, ast.Assign) and node.lineno < line and _is_part(node.value, parts):
            parts |= {each.id for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Name)}
    read = {each.id for each in ast.walk(way[-1].node) if isinstance(each, ast.Name)}
    return () if read.isdisjoint(parts) else tuple(names)


class RoundCounter(NamedTuple):
    """A name that tells in which round a loop is."""

    name: str
    elements: tuple[Any, ...]
    """The constants that it goes through; empty for a number that grows by each round."""
    loop: Loop
    modules: str = ""
    """The expression that the loop goes through, if it may be a list of modules: `self.blocks`; else ""."""


@lru_cache(1024)
def counted_at(path: str, line: int) -> tuple[RoundCounter, ...]:
    """Return what counts the rounds of the loops around a line, the outermost first."""
    function = function_at(path, [line])
    way = way_to(function, line) if function is not None else []
    loops = [step.node for step in way if step.is_true and isinstance(step.node, Loop)]
    return tuple(each for loop in loops for each in _counted(loop))


def _counted(loop: Loop) -> Iterator[RoundCounter]:
    """Yield what counts the rounds of a `for` loop, and variables that each round increments."""
    if isinstance(loop, ast.For):
        again = {name for each in statements_of(loop) for name in _assigned_at(each)}  # as by a loop in it
        yield from (each for each in _counted_by_target(loop) if each.name not in again)
    for each in loop.body:
        match each:
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=ast.Constant(value=1)):
                yield RoundCounter(name, (), loop)


def _counted_by_target(loop: ast.For) -> Iterator[RoundCounter]:
    """Yield the number, constant, parameter or module for which a round is."""
    target = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) else loop.target
    match target, loop.iter:
        case ast.Name(id=name), ast.Call(func=ast.Name(id="range" | "trange")):
            yield RoundCounter(name, (), loop)
        case ast.Name(id=name), ast.Call(func=ast.Name(id="enumerate")) if target is not loop.target:
            yield RoundCounter(name, (), loop)
        case ast.Name(id=name), ast.Call(func=ast.Attribute(attr="parameters"), args=[]):
            yield RoundCounter(name, (), loop)
        case _, ast.Call(func=ast.Attribute(attr="named_parameters"), args=[]):
            yield from (RoundCounter(each, (), loop) for each in [*bound_at(loop)][1:])
        case ast.Name(id=name), ast.Tuple(elts=parts) | ast.List(elts=parts):
            constants = [each.value for each in parts if isinstance(each, ast.Constant)]
            if len(constants) == len(parts):
                yield RoundCounter(name, tuple(constants), loop)
        case ast.Name(id=name), ast.Name() | ast.Attribute() as modules:
            yield RoundCounter(name, (), loop, ast.unparse(modules))


def _is_part(node: ast.expr, names: Container[str]) -> bool:
    """Whether an expression is one of some names, or a part of one.

    It is an attribute, an element or the result of a method. What a function makes of it is none: `evaluated(batch)`.
    """
    match node:
        case ast.Name(id=name):
            return name in names
        case ast.Attribute(value=value) | ast.Call(func=ast.Attribute(value=value)):
            return _is_part(value, names)
        case ast.Subscript(value=value, slice=index):
            return _is_part(value, names) or _is_part(index, names)
        case ast.BinOp(left=left, right=right):
            return _is_part(left, names) or _is_part(right, names)
    return False


def settings_in(node: ast.stmt) -> Iterator[str]:
    """Yield attributes and elements that a statement reads, and names by which it decides.

    A name decides in a condition, a comparison or a remainder: `(step + 1) % accumulate == 0`.
    """
    read: list[ast.AST] = []
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
        read = [node.value]
    elif isinstance(node, ast.If | ast.While):
        read = [node.test]
    elif isinstance(node, Entering):
        read = [item.context_expr for item in node.items]
    yield from (name for each in read for name in names_in(each) if "." in name or "[" in name)
    is_condition = isinstance(node, ast.If | ast.While)
    yield from (name for each in read for name in ([*names_in(each)] if is_condition else _deciding(each)))


def _deciding(node: ast.AST) -> Iterator[str]:
    """Yield the names in conditions, comparisons and remainders of an expression."""
    for each in ast.walk(node):
        match each:
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()) | ast.BinOp(op=ast.Mod()):
                yield from names_in(each)
            case ast.IfExp(test=test):
                yield from names_in(test)


def assigned_in(block: ast.stmt | Function) -> set[str]:
    """Return the names to which the statements of a loop or function assign."""
    return {name for statement in (block, *statements_of(block)) for name in _assigned_at(statement)}


def _assigned_at(statement: ast.AST) -> Iterator[str]:
    """Yield the names to which a statement itself assigns, without its blocks."""
    names = (each for node in _expressions(statement) for each in ast.walk(node) if isinstance(each, ast.Name))
    yield from (each.id for each in names if isinstance(each.ctx, ast.Store | ast.Del))


def _expressions(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions of a statement itself, without its blocks."""
    yield from (each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr))
    if isinstance(node, Entering):
        yield from (each.optional_vars for each in node.items if each.optional_vars is not None)


def _noting(node: ast.stmt) -> list[list[ast.stmt]]:
    if isinstance(node, ast.Try):
        return [handler.body for handler in node.handlers]
    return [node.body] if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Continue) else []


def noted_by(block: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield the variables that a block of statements counts, and the lists to which it appends."""
    for each in block:
        match each:
            case ast.AugAssign(target=target):
                yield ast.unparse(target)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=kept, attr="append"))):
                yield ast.unparse(kept)


def bound_at(node: ast.AST) -> Iterator[str]:
    """Yield the target names of a `for` loop, or the names that a `with` statement reads."""
    if isinstance(node, ast.For):
        yield from (each.id for each in ast.walk(node.target) if isinstance(each, ast.Name))
    elif isinstance(node, Entering):
        for item in node.items:
            yield from names_in(item.context_expr)


def read_in(block: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield the names that the simple statements of a block read."""
    for each in block:
        yield from read_at([each])


def read_at(way: Sequence[ast.AST]) -> Iterator[str]:
    """Yield the names that the last statement of a way reads, if it is a simple one."""
    if way and not hasattr(way[-1], "body"):
        yield from names_in(way[-1])
