"""Find the file that an import means, and read what its names stand for; a notebook's cells are one module."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from dynascope_lsp.documents.syntax import FunctionNode, dotted, parse, statements
from dynascope_lsp.documents.text import Text

_MAGIC = ("%", "!", "?")


class ClassInfo:
    """A class statement: its methods and the values that it assigns to attributes."""

    def __init__(self, module: WorkspaceModule, node: ast.ClassDef) -> None:
        self.module = module
        self.node = node
        self.name = node.name
        self.methods = {each.name: each for each in node.body if isinstance(each, FunctionNode)}

    @cached_property
    def attributes(self) -> dict[str, list[tuple[ast.expr | None, FunctionNode | None]]]:
        """Collect the values assigned to each attribute, with the method that assigns each.

        The value is None for an operator such as `+=`, the method is None in the class body.
        """
        found: dict[str, list[tuple[ast.expr | None, FunctionNode | None]]] = {}
        for each in self.node.body:
            if isinstance(each, ast.Assign | ast.AnnAssign) and each.value is not None:
                for target in _targets(each):
                    if isinstance(target, ast.Name):
                        found.setdefault(target.id, []).append((each.value, None))
        for method in self.methods.values():
            for each in statements(method.body):
                value = each.value if isinstance(each, ast.Assign | ast.AnnAssign) else _ANYTHING
                for target in _targets(each) if value is not None else ():
                    for part in ast.walk(target):
                        name = _attribute_of_self(part)
                        if name is not None and isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
                            given = value if part is target else _ANYTHING
                            found.setdefault(name, []).append(
                                (None if isinstance(each, ast.AugAssign) else given, method)
                            )
        return found

    @cached_property
    def buffers(self) -> dict[str, ast.expr]:
        """Collect the values registered as buffers or parameters: they stay tensors."""
        found: dict[str, ast.expr] = {}
        for method in self.methods.values():
            for each in statements(method.body):
                if not isinstance(each, ast.Expr) or not isinstance(each.value, ast.Call):
                    continue
                match each.value:
                    case ast.Call(ast.Attribute(ast.Name("self"), "register_buffer" | "register_parameter"), arguments):
                        name = arguments[0] if len(arguments) > 1 else None
                        if isinstance(name, ast.Constant) and isinstance(name.value, str):
                            found[name.value] = arguments[1]
        return found

    @cached_property
    def annotations(self) -> dict[str, ast.expr]:
        """Collect the annotations in the class body, such as those of a dataclass's fields."""
        named = [each for each in self.node.body if isinstance(each, ast.AnnAssign)]
        return {each.target.id: each.annotation for each in named if isinstance(each.target, ast.Name)}


_ANYTHING = ast.Starred(ast.Constant(None))
"""An expression with an unknown value."""


class WorkspaceModule:
    """One file. Its names are resolved once, in order: the last definition counts."""

    def __init__(self, path: str, text: Text) -> None:
        self.path = path
        self.text = text
        self.tree = text.tree if text.tree is not None else ast.Module([], [])
        self.classes: dict[str, ClassInfo] = {}
        self.functions: dict[str, FunctionNode] = {}
        self.imports: dict[str, tuple[str, str | None, int]] = {}
        """By local name: module, name in it (None: the module itself), level of dots."""
        self.imports_everything = False
        """Whether it has a `from … import *`: a builtin's name may be something else."""
        self.assigned: dict[str, ast.expr | None] = {}
        """Values of module-level names; None for one assigned more than once."""
        self._options: dict[str, bool] = {}
        for node in self.tree.body:
            self._add(node)
        for each in statements(self.tree.body):
            if isinstance(each, ast.Import | ast.ImportFrom):
                self._add_import(each)
            elif isinstance(each, ast.Global):
                self.assigned.update(dict.fromkeys(each.names))

    def sets(self, option: str) -> bool:
        """Whether the file mentions an option of Dynamo, other than to set it to False."""
        if option not in self._options:
            found = re.search(rf"\b{option}\b(?!\s*=\s*False)", self.text.source)
            self._options[option] = found is not None
        return self._options[option]

    @cached_property
    def method_names(self) -> set[str]:
        """Collect the names of the methods of all classes."""
        return {name for info in self.classes.values() for name in info.methods}

    @cached_property
    def attributes_set(self) -> set[str]:
        """Collect attributes that are assigned outside of a class: `model.verbose = False`.

        Assignments that only compile are left out: `model.forward = torch.compile(model.forward)`.
        """
        found: set[str] = set()
        for node in statements(self.tree.body):
            compiles = isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and dotted(node.value.func)
            for target in _targets(node) if not (compiles and compiles.endswith("compile")) else ():
                found.update(
                    each.attr
                    for each in ast.walk(target)
                    if isinstance(each, ast.Attribute)
                    and isinstance(each.ctx, ast.Store)
                    and _attribute_of_self(each) is None
                )
        return found

    def _add(self, node: ast.stmt) -> None:
        if isinstance(node, ast.ClassDef):
            self.classes[node.name] = ClassInfo(self, node)
        elif isinstance(node, FunctionNode):
            self.functions[node.name] = node
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._assign(target, node.value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._assign(node.target, node.value)
        elif isinstance(node, ast.AugAssign):
            self._assign(node.target, None)
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.For | ast.While):
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.stmt):
                    self._add(child)

    def _assign(self, target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            self.assigned[target.id] = None if target.id in self.assigned else value
        elif isinstance(target, ast.Tuple | ast.List):
            for each in target.elts:
                self._assign(each, None)

    def _add_import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if isinstance(node, ast.Import):
                local = alias.asname or alias.name.partition(".")[0]
                self.imports[local] = (alias.name if alias.asname else local, None, 0)
            elif alias.name == "*":
                self.imports_everything = True
            else:
                self.imports[alias.asname or alias.name] = (node.module or "", alias.name, node.level)


def _attribute_of_self(target: ast.AST) -> str | None:
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
        return target.attr
    return None


def _targets(node: ast.stmt) -> list[ast.expr]:
    """List the targets that a statement assigns to."""
    match node:
        case ast.Assign(targets):
            return targets
        case ast.AnnAssign(target) | ast.AugAssign(target) | ast.For(target) | ast.AsyncFor(target):
            return [target]
        case ast.With(items) | ast.AsyncWith(items):
            return [each.optional_vars for each in items if each.optional_vars is not None]
    return []


def as_module(cells: list[str]) -> str:
    """Join the sources of all code cells.

    Each ends with a newline; IPython commands, and all lines of a cell that is not Python, become empty lines.
    """
    return "".join(_cell(each) for each in cells)


def first_line(cells: list[str], place: int) -> int:
    """Return the line of that module, from 1, at which a cell begins."""
    return 1 + sum(each.count("\n") + 1 for each in cells[:place])


def _cell(source: str) -> str:
    lines = ["" if line.lstrip().startswith(_MAGIC) else line for line in source.split("\n")]
    if parse("\n".join(lines)) is None:
        lines = [""] * len(lines)
    return "\n".join(lines) + "\n"
