"""Find the condition on which a program raises an error that a handler of its own file takes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynascope.facts.comparison.plain_branches import PlainBranch
from dynascope.facts.comparison.plain_code import branches_of, module_at, statements_of


def condition_of_error(path: str, error: str) -> PlainBranch | None:
    """Return the `if` that raises an error, `ValueError`.

    None where the file raises it at no line, or at several.
    """
    module = module_at(path)
    functions = (node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)) if module is not None else ()
    found = [(function, node) for function in functions for node in branches_of(function) if _raises(node, error)]
    all_raised = [node for node in ast.walk(module) if _is_of(node, error)] if module is not None else []
    if len(found) != 1 or len(all_raised) != 1:
        return None
    function, node = found[0]
    assert isinstance(node, ast.If)
    return PlainBranch(path, node.lineno, function.name, ast.unparse(node.test), [], "condition", None)


def _raises(node: ast.stmt, error: str) -> bool:
    return isinstance(node, ast.If) and any(_is_of(each, error) for each in _of_body(node))


def _of_body(node: ast.If) -> Iterator[ast.stmt]:
    for each in node.body:
        yield each
        yield from statements_of(each)


def _is_of(node: ast.AST, error: str) -> bool:
    match node:
        case ast.Raise(exc=ast.Name(id=name) | ast.Call(func=ast.Name(id=name))):
            return name == error
    return False
