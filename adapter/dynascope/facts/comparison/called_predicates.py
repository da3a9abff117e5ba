"""Find what a condition reads by the functions that it calls: `self.waiting` for `self.has_work()`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from dynascope.facts.comparison.plain_code import is_path, module_at, names_in, statements_of

_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def names_asked(path: str, expression: ast.expr) -> Iterator[str]:
    """Yield the names that functions read to whose results an expression comes.

    They are functions of the same file of which there is one of a name. The names are those of the caller; local
    variables of the functions are left out.
    """
    for each in ast.walk(expression):
        if isinstance(each, ast.Call) and (function := _called(path, each)) is not None:
            passed = _passed(each, function)
            for node in _decisive(function):
                yield from (renamed for name in names_in(node) if (renamed := _renamed(name, passed)))


def _called(path: str, call: ast.Call) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Return the function of a file that a call may mean, `self.has_work()`; None without one."""
    match call.func:
        case ast.Name(id=name):
            pass
        case ast.Attribute(value=owner, attr=name) if is_path(owner):
            pass
        case _:
            return None
    module = module_at(path)
    known = [each for each in ast.walk(module) if isinstance(each, _FUNCTIONS)] if module is not None else []
    found = [each for each in known if each.name == name]
    return found[0] if len(found) == 1 else None


def _passed(call: ast.Call, function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, str]:
    """Return by parameter the name that a call passes for it, if that is a name."""
    given: list[ast.expr] = [*call.args]
    if isinstance(call.func, ast.Attribute):
        given.insert(0, call.func.value)
    names = [each.arg for each in function.args.args]
    by_name = {**dict(zip(names, given, strict=False)), **{each.arg: each.value for each in call.keywords if each.arg}}
    return {name: ast.unparse(value) for name, value in by_name.items() if is_path(value)}


def _decisive(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.expr]:
    """Yield the results of a function, its conditions, and what it goes through."""
    for each in statements_of(function):
        if isinstance(each, ast.Return) and each.value is not None:
            yield each.value
        elif isinstance(each, ast.If | ast.While):
            yield each.test
        elif isinstance(each, ast.For):
            yield each.iter


def _renamed(name: str, passed: Mapping[str, str]) -> str:
    """Return a function's name for a value as its caller names it; "" for a variable of its own."""
    inner = name.removeprefix("len(")
    for parameter, given in passed.items():
        if inner == parameter or inner.startswith((f"{parameter}.", f"{parameter}[", f"{parameter})")):
            return f"{name[: len(name) - len(inner)]}{given}{inner.removeprefix(parameter)}"
    return ""
