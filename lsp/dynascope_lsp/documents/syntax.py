"""Parse a text, and index its tree by line: functions, the names assigned and read, calls."""

from __future__ import annotations

import ast
import os
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator

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


class Index:
    """The index of a file's tree."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.functions: list[Function] = []
        self.assigned: dict[int, list[ast.Name]] = {}
        """Names by the line on which they are assigned."""
        self.read: dict[int, list[ast.Name]] = {}
        self.calls: dict[int, list[ast.Call]] = {}
        self.parents: dict[ast.AST, ast.AST] = {}
        self.imports: list[ast.Import | ast.ImportFrom] = []
        """All imports, wherever they are, in the order of the text."""
        self._visit()
        self.functions.sort(key=lambda each: (each.first_line, -each.last_line))
        self._starting: dict[int, Function] = {}
        for each in self.functions:
            self._starting.setdefault(each.first_line, each)
            self._starting.setdefault(each.name_line, each)

    def function_at(self, line: int) -> Function | None:
        """Find the innermost function around a line."""
        place = bisect_right(self.functions, line, key=lambda each: each.first_line)
        # any function around the line is also around the last one that begins before it
        found = self.functions[place - 1] if place else None
        while found is not None and found.last_line < line:
            found = found.parent
        return found

    def function_starting(self, line: int) -> Function | None:
        """Find the function whose first decorator, or `def`, is on this line."""
        return self._starting.get(line)

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

    def _visit(self) -> None:
        todo: list[tuple[ast.AST, str, Function | None]] = [(self.tree, "", None)]
        while todo:
            node, prefix, function = todo.pop()
            if isinstance(node, ast.Name):
                names = self.read if isinstance(node.ctx, ast.Load) else self.assigned
                names.setdefault(node.lineno, []).append(node)
                continue
            match node:
                case ast.Constant():
                    continue
                case ast.Call():
                    self.calls.setdefault(node.lineno, []).append(node)
                case ast.Import() | ast.ImportFrom():
                    self.imports.append(node)
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    name = prefix + node.name
                    function = Function(node, name, first_line(node), node.end_lineno or node.lineno, function)
                    self.functions.append(function)
                    prefix = f"{name}.<locals>."
                case ast.ClassDef():
                    prefix = f"{prefix}{node.name}."
            inner = list(ast.iter_child_nodes(node))
            self.parents.update(dict.fromkeys(inner, node))
            todo += [(each, prefix, function) for each in reversed(inner)]


def parse(source: str) -> ast.Module | None:
    """Parse a source; None when it is not Python, as often while the user types."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # linters report "invalid escape sequence"
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Iterate over all statements, those inside of others included, in the order of the text."""
    for each in body:
        yield each
        yield from statements(child for child in children(each) if isinstance(child, ast.stmt))


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


def module_candidates(name: str, importer: str, level: int, folders: list[str]) -> list[str]:
    """List the files that a dotted name may mean, the likeliest first.

    Those next to the importer come first, then those in the workspace's folders.
    """
    parts = name.split(".") if name else []
    if level:
        base = os.path.dirname(importer)
        for _ in range(level - 1):
            base = os.path.dirname(base)
        bases = [base]
    else:
        bases = []
        above = os.path.dirname(importer)
        while any(above == folder or above.startswith(folder + os.sep) for folder in folders) or not bases:
            bases.append(above)
            above = os.path.dirname(above)
        bases += [path for folder in folders for path in (folder, os.path.join(folder, "src"))]
    found = []
    for base in bases:
        path = os.path.join(base, *parts)
        found += [path + ".py", os.path.join(path, "__init__.py")] if parts else [os.path.join(path, "__init__.py")]
    return list(dict.fromkeys(found))


def words(names: str, *, prefix: str = "") -> frozenset[str]:
    """Split a text into names, each with a prefix."""
    return frozenset(prefix + each for each in names.split())
