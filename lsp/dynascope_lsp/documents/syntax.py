"""What a syntax tree says about lines: functions, the names assigned and read, calls. Built once per version of a
text."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from msgspec import Struct

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


class Function(Struct, frozen=True, eq=False):
    """A function or method; lines from its first decorator to its end, as its code object has them."""

    node: FunctionNode
    qualified_name: str
    """With the classes and functions around it, as Python writes it: `Model.forward`, `outer.<locals>.inner`."""
    first_line: int
    last_line: int
    parent: Function | None

    @property
    def name_line(self) -> int:
        """The line of `def`."""
        return self.node.lineno

    @property
    def parameters(self) -> list[ast.arg]:
        a = self.node.args
        rest = [each for each in (a.vararg, a.kwarg) if each is not None]
        return [*a.posonlyargs, *a.args, *a.kwonlyargs, *rest]


class Index:
    """Of one tree."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.functions: list[Function] = []
        self.assigned: dict[int, list[ast.Name]] = {}
        """By line: names that are given a value there."""
        self.read: dict[int, list[ast.Name]] = {}
        self.calls: dict[int, list[ast.Call]] = {}
        self.imports: list[ast.Import | ast.ImportFrom] = []
        self.global_names: set[str] = set()
        """That some function declares `global`."""
        self.parents: dict[ast.AST, ast.AST] = {}
        self._visit(tree, "", None)
        self.functions.sort(key=lambda each: (each.first_line, -each.last_line))
        self._starts = [each.first_line for each in self.functions]
        self._by_first_line = {each.first_line: each for each in self.functions}
        self._by_first_line.update({each.name_line: each for each in self.functions})

    def function_at(self, line: int) -> Function | None:
        """The innermost one around a line."""
        for place in range(bisect_right(self._starts, line) - 1, -1, -1):
            function = self.functions[place]
            if function.last_line >= line:
                return function
            if function.parent is None:
                return None  # a function around the line would be around this one too
        return None

    def function_starting(self, line: int) -> Function | None:
        """The one whose first decorator, or `def`, is on this line."""
        return self._by_first_line.get(line)

    def statement_at(self, line: int) -> ast.stmt | None:
        """The innermost statement that covers a line."""
        found: ast.stmt | None = None
        body: list[ast.stmt] = self.tree.body
        while True:
            inner = next((each for each in body if first_line(each) <= line <= (each.end_lineno or each.lineno)), None)
            if inner is None:
                return found
            found = inner
            body = [each for each in children(inner) if isinstance(each, ast.stmt)]

    def statement_of(self, node: ast.AST) -> ast.stmt | None:
        """The statement an expression is part of."""
        while not isinstance(node, ast.stmt):
            parent = self.parents.get(node)
            if parent is None:
                return None
            node = parent
        return node

    def _visit(self, node: ast.AST, prefix: str, function: Function | None) -> None:
        parents = self.parents
        for child in _inner(node):
            kind = type(child)
            parents[child] = node
            if kind is ast.Name:
                assert isinstance(child, ast.Name)
                names = self.read if type(child.ctx) is ast.Load else self.assigned
                names.setdefault(child.lineno, []).append(child)
                continue
            if kind is ast.Constant:
                continue
            if isinstance(child, ast.Call):
                self.calls.setdefault(child.lineno, []).append(child)
            elif isinstance(child, ast.Import | ast.ImportFrom):
                self.imports.append(child)
            elif isinstance(child, ast.Global):
                self.global_names.update(child.names)
            if isinstance(child, FunctionNode):
                name = prefix + child.name
                inner = Function(child, name, first_line(child), child.end_lineno or child.lineno, function)
                self.functions.append(inner)
                self._visit(child, f"{name}.<locals>.", inner)
            elif isinstance(child, ast.ClassDef):
                self._visit(child, f"{prefix}{child.name}.", function)
            else:
                self._visit(child, prefix, function)


def _inner(node: ast.AST) -> list[ast.AST]:
    """The nodes directly below, but for contexts and operators: they say nothing."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if type(value) is list:
            found += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.expr | ast.stmt | ast.arguments | ast.comprehension):
            found.append(value)
    return found


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements, in the order of the text, those inside of others included; expressions are not looked into."""
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
    """Of a statement, its first decorator included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def children(node: ast.stmt) -> list[ast.AST]:
    """Direct children, and those of `except` and `case` clauses."""
    found: list[ast.AST] = []
    for child in ast.iter_child_nodes(node):
        found.append(child)
        if isinstance(child, ast.ExceptHandler | ast.match_case):
            found.extend(ast.iter_child_nodes(child))
    return found


def dotted(node: ast.AST) -> str | None:
    """`torch.nn.functional` of a chain of attributes; None for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])
