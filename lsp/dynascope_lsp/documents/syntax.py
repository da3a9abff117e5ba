"""Index a syntax tree by line: functions, the names assigned and read, calls.

The index is computed block by block, and kept with the blocks that an edit does not change."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TypeVar

from msgspec import Struct

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


class Function(Struct, eq=False):
    """A function or method; its lines begin at its first decorator, like those of its code object."""

    node: FunctionNode
    qualified_name: str
    """Its `__qualname__`: `Model.forward`, `outer.<locals>.inner`."""
    first_line: int
    last_line: int
    parent: Function | None

    @property
    def name_line(self) -> int:
        """Return the line of `def`."""
        return self.node.lineno

    @property
    def parameters(self) -> list[ast.arg]:
        a = self.node.args
        rest = [each for each in (a.vararg, a.kwarg) if each is not None]
        return [*a.posonlyargs, *a.args, *a.kwonlyargs, *rest]


class Block:
    """The top-level statements that share a line, usually one; they are indexed once."""

    def __init__(self, statement: ast.stmt) -> None:
        self.body = [statement]
        self.first = first_line(statement)
        self.last = statement.end_lineno or statement.lineno

    def add(self, statement: ast.stmt) -> None:
        self.body.append(statement)
        self.last = max(self.last, statement.end_lineno or statement.lineno)

    @cached_property
    def names(self) -> Names:
        return Names(self)

    @cached_property
    def places(self) -> list[dict[str, int]]:
        """Collect the attributes of every node that has a place."""
        found = []
        todo: list[ast.AST] = list(self.body)
        while todo:
            attributes = todo.pop().__dict__
            if "lineno" in attributes:
                found.append(attributes)
            for value in attributes.values():
                if type(value) is list:
                    todo += [each for each in value if isinstance(each, ast.AST)]
                elif isinstance(value, ast.AST):
                    todo.append(value)
        return found

    def move(self, lines: int) -> None:
        """Move the block so many lines further down."""
        for attributes in self.places:
            attributes["lineno"] += lines
            attributes["end_lineno"] += lines
        self.first += lines
        self.last += lines
        for function in self.names.functions if "names" in self.__dict__ else ():
            function.first_line += lines
            function.last_line += lines


class Names:
    """The index of one block; its lines count from the block's first line."""

    def __init__(self, block: Block) -> None:
        self.functions: list[Function] = []
        self.assigned: dict[int, list[ast.Name]] = {}
        self.read: dict[int, list[ast.Name]] = {}
        self.calls: dict[int, list[ast.Call]] = {}
        self.parents: dict[ast.AST, ast.AST] = {}
        self.imports: list[ast.Import | ast.ImportFrom] = []
        self._first = block.first
        for statement in block.body:
            self._visit_child(statement, "", None)
        self.functions.sort(key=lambda each: (each.first_line, -each.last_line))

    def _visit(self, node: ast.AST, prefix: str, function: Function | None) -> None:
        parents = self.parents
        for child in _inner(node):
            parents[child] = node
            self._visit_child(child, prefix, function)

    def _visit_child(self, child: ast.AST, prefix: str, function: Function | None) -> None:
        kind = type(child)
        if kind is ast.Name:
            assert isinstance(child, ast.Name)
            names = self.read if type(child.ctx) is ast.Load else self.assigned
            names.setdefault(child.lineno - self._first, []).append(child)
            return
        if kind is ast.Constant:
            return
        if isinstance(child, ast.Call):
            self.calls.setdefault(child.lineno - self._first, []).append(child)
        elif isinstance(child, ast.Import | ast.ImportFrom):
            self.imports.append(child)
        if isinstance(child, FunctionNode):
            name = prefix + child.name
            inner = Function(child, name, first_line(child), child.end_lineno or child.lineno, function)
            self.functions.append(inner)
            self._visit(child, f"{name}.<locals>.", inner)
        elif isinstance(child, ast.ClassDef):
            self._visit(child, f"{prefix}{child.name}.", function)
        else:
            self._visit(child, prefix, function)


Node = TypeVar("Node", ast.Name, ast.Call)


class ByLine(Mapping[int, list[Node]]):
    """Nodes by the line on which they begin."""

    def __init__(self, index: Index, kind: str) -> None:
        self._index = index
        self._kind = kind

    def __getitem__(self, line: int) -> list[Node]:
        block = self._index.block_at(line)
        if block is None:
            raise KeyError(line)
        found: list[Node] = getattr(block.names, self._kind)[line - block.first]
        return found

    def __iter__(self) -> Iterator[int]:
        for block in self._index.blocks:
            yield from (block.first + line for line in getattr(block.names, self._kind))

    def __len__(self) -> int:
        return sum(len(getattr(block.names, self._kind)) for block in self._index.blocks)


class Parents:
    """The parent of each node."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def __getitem__(self, node: ast.AST) -> ast.AST:
        block = self._index.block_at(node.lineno) if isinstance(node, ast.expr | ast.stmt) else None
        for each in [block] if block is not None else self._index.blocks:
            if node in each.names.parents:
                return each.names.parents[node]
            if node in each.body:
                return self._index.tree
        raise KeyError(node)

    def get(self, node: ast.AST) -> ast.AST | None:
        try:
            return self[node]
        except KeyError:
            return None


class Index:
    """The index of a file's blocks."""

    def __init__(self, blocks: list[Block]) -> None:
        self.tree = ast.Module([statement for block in blocks for statement in block.body], [])
        self.blocks = blocks
        self._starts = [each.first for each in blocks]
        self.assigned: ByLine[ast.Name] = ByLine(self, "assigned")
        """Names by the line on which they are assigned."""
        self.read: ByLine[ast.Name] = ByLine(self, "read")
        self.calls: ByLine[ast.Call] = ByLine(self, "calls")
        self.parents = Parents(self)

    @property
    def imports(self) -> list[ast.Import | ast.ImportFrom]:
        """List the imports, wherever they are, in the order of the text."""
        return [each for block in self.blocks for each in block.names.imports]

    def block_at(self, line: int) -> Block | None:
        """Find the block that covers a line."""
        place = bisect_right(self._starts, line) - 1
        return self.blocks[place] if place >= 0 and self.blocks[place].last >= line else None

    def function_at(self, line: int) -> Function | None:
        """Find the innermost function around a line."""
        block = self.block_at(line)
        around = [each for each in block.names.functions if each.first_line <= line <= each.last_line] if block else []
        return around[-1] if around else None

    def function_starting(self, line: int) -> Function | None:
        """Find the function whose first decorator, or `def`, is on this line."""
        block = self.block_at(line)
        for each in block.names.functions if block is not None else ():
            if line in (each.first_line, each.name_line):
                return each
        return None

    def statement_at(self, line: int) -> ast.stmt | None:
        """Find the innermost statement that covers a line."""
        found: ast.stmt | None = None
        body: list[ast.stmt] = self.tree.body
        while True:
            inner = next((each for each in body if first_line(each) <= line <= (each.end_lineno or each.lineno)), None)
            if inner is None:
                return found
            found = inner
            body = [each for each in children(inner) if isinstance(each, ast.stmt)]

    def statement_of(self, node: ast.AST) -> ast.stmt | None:
        """Find the statement that an expression is part of."""
        while not isinstance(node, ast.stmt):
            parent = self.parents.get(node)
            if parent is None:
                return None
            node = parent
        return node


def _inner(node: ast.AST) -> list[ast.AST]:
    """List the nodes directly below, without contexts and operators."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if type(value) is list:
            found += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.expr | ast.stmt | ast.arguments | ast.comprehension):
            found.append(value)
    return found


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Iterate over all statements, those inside of others included, in the order of the text."""
    for each in body:
        yield each
        for name in ("body", "orelse", "handlers", "finalbody", "cases"):
            inner = getattr(each, name, None)
            if inner and name in ("handlers", "cases"):
                for clause in inner:
                    yield from statements(clause.body)
            elif inner:
                yield from statements(inner)


def first_line(node: ast.stmt) -> int:
    """Return the first line of a statement, its first decorator included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def children(node: ast.stmt) -> list[ast.AST]:
    """List direct children, and those of `except` and `case` clauses."""
    found: list[ast.AST] = []
    for child in ast.iter_child_nodes(node):
        found.append(child)
        if isinstance(child, ast.ExceptHandler | ast.match_case):
            found.extend(ast.iter_child_nodes(child))
    return found


def dotted(node: ast.AST) -> str | None:
    """Write a chain of attributes as `torch.nn.functional`; None for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])
