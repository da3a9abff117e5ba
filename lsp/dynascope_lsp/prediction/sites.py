"""Find where a module compiles: `@torch.compile`, `torch.compile(…)`, `module.compile()`."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterator

from msgspec import structs

from dynascope_lsp.documents.syntax import FunctionNode, first_line, statements
from dynascope_lsp.prediction.frame import Frame
from dynascope_lsp.prediction.interpreter import Interpreter
from dynascope_lsp.prediction.modules import ClassInfo, WorkspaceModule
from dynascope_lsp.prediction.values import FunctionValue, Instance, Several, Value

COMPILE = "torch.compile"

_MENTION = re.compile(r"compile\b(?=(\s*(?:[(,)]|$))?)", re.MULTILINE)
"""The group matches if the name is called or ends an expression."""
_ELSE = re.compile(r"#|(?:\w|\bre\.|`|`torch\.)$")
"""Matches text before the name if it is in a comment, part of another name, or `re.compile`."""


def mentions_compile(source: str) -> bool:
    """Whether the code of a text may mention `compile`: a quick check before it is parsed."""
    if "torch" not in source or "compile" not in source:
        return False
    for found in _MENTION.finditer(source):
        before = source[source.rfind("\n", 0, found.start()) + 1 : found.start()]
        if (found[1] is not None or "import" in before) and not _ELSE.search(before):
            return True
    return False


def compiled(interpreter: Interpreter, module: WorkspaceModule) -> Iterator[FunctionValue]:
    """Iterate over the root functions of the compiles in this module."""
    owners = _owners(module)
    for node in statements(module.tree.body):
        decorators = node.decorator_list if isinstance(node, FunctionNode) else []
        sites = [each for each in decorators if _compiles(interpreter, module, each)]
        if isinstance(node, FunctionNode) and sites:
            owner = owners.get(id(node))
            static = any(interpreter.name_of(module, each) == "builtins.staticmethod" for each in node.decorator_list)
            bound = Instance(owner, exact=False) if owner is not None and not static else None
            yield FunctionValue(module, node, owner, bound, one_graph=any(_is_set(each, "fullgraph") for each in sites))
    lines = [number for number, line in enumerate(module.text.lines, 1) if "compile" in line]
    for scopes, call in _calls(module.tree, [], lines):
        name = interpreter.name_of(module, call.func)
        if name == COMPILE and not _is_set(call, "disable"):
            target = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "model"), None)
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "compile" and name is None:
            target = call.func.value
        else:
            continue
        if target is None:
            continue
        value = _value(interpreter, module, scopes, target)
        if isinstance(call.func, ast.Attribute) and name is None and not _is_module(interpreter, value):
            continue
        for each in _entries(interpreter, value):
            yield structs.replace(each, one_graph=_is_set(call, "fullgraph"))


def _compiles(interpreter: Interpreter, module: WorkspaceModule, decorator: ast.expr) -> bool:
    """Whether a decorator is `torch.compile`, `torch.compile(…)` or `partial(torch.compile, …)`."""
    if not isinstance(decorator, ast.Call):
        return interpreter.name_of(module, decorator) == COMPILE
    name = interpreter.name_of(module, decorator.func)
    if name == "functools.partial" and decorator.args:
        name = interpreter.name_of(module, decorator.args[0])
    return name == COMPILE and not _is_set(decorator, "disable")


def _is_module(interpreter: Interpreter, value: Value) -> bool:
    """Whether a value's `compile` is torch.nn.Module's: it has a base class, none has its own."""
    if not isinstance(value, Instance) or interpreter.method(value.info, "compile") is not None:
        return False
    return any(len(each.node.bases) > 0 for each in interpreter.bases(value.info))


def _is_set(site: ast.expr, option: str) -> bool:
    """Whether a site gives True, or any other expression, for an option of `torch.compile`."""
    return isinstance(site, ast.Call) and any(
        each.arg == option and not (isinstance(each.value, ast.Constant) and not each.value.value)
        for each in site.keywords
    )


def _owners(module: WorkspaceModule) -> dict[int, ClassInfo]:
    """Return the class that each method is of, by the method's id."""
    return {id(method): info for info in module.classes.values() for method in info.methods.values()}


def _calls(node: ast.AST, scopes: list[ast.AST], lines: list[int]) -> Iterator[tuple[list[ast.AST], ast.Call]]:
    """Iterate in order over calls on or around `lines`, with the functions around each call."""
    if isinstance(node, ast.Call):
        yield scopes, node
    body = [*scopes, node] if isinstance(node, FunctionNode) else scopes
    for child in ast.iter_child_nodes(node):
        first = first_line(child) if isinstance(child, ast.stmt) else getattr(child, "lineno", None)
        place = bisect_left(lines, first) if first is not None else 0
        if first is None or (place < len(lines) and lines[place] <= child.end_lineno):  # type: ignore[attr-defined]
            yield from _calls(child, body if isinstance(child, ast.stmt) else scopes, lines)


def _value(interpreter: Interpreter, module: WorkspaceModule, scopes: list[ast.AST], target: ast.expr) -> Value:
    """Evaluate the compiled expression by the assignments of the functions around the call."""
    frame = Frame.to_evaluate(interpreter, module)
    owners = _owners(module)
    for scope in scopes:
        if id(scope) in owners:
            frame.names["self"] = Instance(owners[id(scope)], exact=False)
        for node in ast.walk(scope):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                if node.lineno < target.lineno:
                    frame.names[node.targets[0].id] = frame.evaluate(node.value)
            elif isinstance(node, FunctionNode) and node is not scope:
                frame.names[node.name] = FunctionValue(module, node, closure=frame.names)
    return frame.evaluate(target)


def _entries(interpreter: Interpreter, value: Value) -> Iterator[FunctionValue]:
    """Iterate over the functions that run when a value is called."""
    if isinstance(value, FunctionValue):
        yield value
    elif isinstance(value, Several) and value.called:
        for each in value.items:
            yield from _entries(interpreter, each)
    elif isinstance(value, Instance) and (forward := interpreter.called(value)) is not None:
        yield forward
