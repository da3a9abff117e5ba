"""Read from a program's source whether a number that is taken of a tensor is only a size, an index or a slice's end.

Dynamo keeps such a number in the graph as a symbol where `torch._dynamo.config.capture_scalar_outputs` is True (2.0).
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

_LONGEST = 400
"""The most lines that are read."""
_TAKE_SIZES = (
    "arange empty expand eye full linspace narrow new_empty new_full new_ones new_zeros ones pad rand randn repeat "
    "repeat_interleave reshape roll split split_with_sizes tensor_split tile topk unflatten unfold view zeros"
)
"""Functions and methods of torch of which a number is a size, an index or the number of elements."""
_SIZED = frozenset(_TAKE_SIZES.split())
_CHECKS = frozenset(("_check", "_check_is_size"))
_OF_NUMBERS = frozenset(("int", "min", "max"))
_Use = Literal["size", "neutral", "decides", "number", "elements"]
"""`decides`: Python may need the number; `number`: a number is computed with it; `elements`: it is a list of such."""


def is_number(value: ast.AST) -> bool:
    """Whether an expression makes a number, or a list of numbers, of a tensor."""
    match value:
        case ast.Call(func=ast.Attribute(attr="item" | "tolist") | ast.Name(id="int" | "float" | "bool")):
            return True
    return False


def is_size(lines: Sequence[str], line: int) -> bool:
    """Whether a number that a line takes of a tensor is a size, and decides nothing."""
    text = textwrap.dedent("".join(block_at(lines, line)))
    try:
        statements = ast.parse(text.replace("\\\n", " ").replace("\\", "/")).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    uses = _Uses(statements) if statements else None
    return uses is not None and uses.of_size and not uses.decide


def block_at(lines: Sequence[str], line: int) -> Iterator[str]:
    """Yield the lines from a statement to the end of its block."""
    own = indentation_of(lines[line - 1])
    for each in lines[line - 1 : line - 1 + _LONGEST]:
        if each.strip() and not each.lstrip().startswith(("#", ")", "]")) and indentation_of(each) < own:
            return
        yield each


def indentation_of(line: str) -> int:
    """Return how many characters of white space a line begins with."""
    return len(line) - len(line.lstrip())


class _Uses:
    """How the numbers of the first of some statements, and what is computed with them, are used."""

    def __init__(self, statements: Sequence[ast.stmt]) -> None:
        self.of_size = False
        self.decide = False
        all_nodes = [node for each in statements for node in ast.walk(each)]
        self._above = {below: above for above in all_nodes for below in ast.iter_child_nodes(above)}
        self._names: set[str] = set()
        self._of_that_size: set[str] = set()
        begin = statements[0]
        first = ast.walk(begin.iter if isinstance(begin, ast.For) else begin)
        for node in filter(is_number, first):
            self._note(node)
        for _ in range(2):  # in a loop, a name is read above the line that gives it a value
            for node in all_nodes:
                if isinstance(node, ast.Name) and node.id in self._names and isinstance(node.ctx, ast.Load):
                    self._note(node)
        self.decide |= any(not self._of_that_size.isdisjoint(_names([each])) for each in map(_condition, all_nodes))

    def _note(self, node: ast.AST) -> None:
        """Note how a number is used, and the names that get numbers computed with it."""
        found, at = self._use(node)
        self.of_size |= found == "size"
        self.decide |= found == "decides"
        if found in ("number", "elements"):
            self._names |= _names(_targets(at))
        elif found == "size":
            while at is not None and not isinstance(at, ast.stmt):
                at = self._above.get(at)
            self._of_that_size |= _names(_targets(at))

    def _use(self, node: ast.AST) -> tuple[_Use, ast.AST | None]:
        """Return how a number is used, and the node that uses it."""
        above = self._above.get(node)
        while above is not None and self._is_number_too(above, node):
            node, above = above, self._above.get(above)
        match above:
            case ast.Slice() | ast.Subscript(slice=ast.Tuple()):
                return "size", above
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
                return _of_argument(name), above
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                return "number", above
            case ast.For() | ast.comprehension() if above.iter is node:
                return "elements", above
            case ast.Compare():
                return self._of_condition(above), above
            case ast.BinOp() | ast.Return() | ast.Expr() | None:
                return "neutral", node
        return "decides", above

    def _is_number_too(self, above: ast.AST, node: ast.AST) -> bool:
        """Whether an expression is a number, or holds one, as what is in it."""
        match above:
            case ast.Tuple() | ast.List() | ast.UnaryOp(op=ast.USub()) | ast.keyword() | ast.Starred():
                return True
            case ast.Subscript(value=value):
                return value is node  # an element of a list of numbers
            case ast.Call(func=ast.Name(id=name)):
                return name in _OF_NUMBERS
            case ast.BinOp(left=left, right=right):
                return all(side is node or self._is_plain(side) for side in (left, right))
        return False

    def _is_plain(self, node: ast.AST) -> bool:
        """Whether an expression is a number of the program, and no tensor, as far as it tells."""
        match node:
            case ast.Constant(value=int() | float()):
                return True
            case ast.Name(id=name):
                return name in self._names
            case ast.Subscript(value=ast.Attribute(attr="shape")) | ast.Call(func=ast.Attribute(attr="size" | "item")):
                return True
            case ast.BinOp(left=left, right=right):
                return self._is_plain(left) and self._is_plain(right)
        return False

    def _of_condition(self, compare: ast.AST) -> _Use:
        """Return how a comparison is used: one with a tensor gives a mask, `torch.arange(8) < k`."""
        match self._above.get(compare):
            case ast.Call(func=ast.Attribute(attr=name)) if name in _CHECKS:
                return "neutral"
            case ast.Assign() | ast.Subscript() | ast.Call() | ast.BinOp() | ast.Return():
                return "neutral"
        return "decides"


def _of_argument(function: str) -> _Use:
    return "size" if function in _SIZED else "neutral" if function in _CHECKS else "decides"


def _condition(node: ast.AST) -> ast.AST:
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
            return test
    return ast.Pass()


def _names(nodes: Iterable[ast.AST]) -> set[str]:
    return {each.id for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name)}


def _targets(node: ast.AST | None) -> list[ast.expr]:
    """Return what an assignment, or a loop, gives a value."""
    match node:
        case ast.Assign(targets=targets):
            return targets
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target) | ast.For(target=target):
            return [target]
        case ast.comprehension(target=target):
            return [target]
    return []
