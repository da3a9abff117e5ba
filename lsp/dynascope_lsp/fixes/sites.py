"""Find where a program compiles a function, and where it calls the result, in all its files."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import PurePath

from msgspec import Struct

from dynascope_lsp.documents.syntax import Function, FunctionNode, Index, dotted
from dynascope_lsp.fixes.fix import Refused
from dynascope_lsp.fixes.inference import full_name
from dynascope_lsp.recorded.program_files import program_files
from dynascope_lsp.recorded.snapshot import Snapshot

COMPILE = "torch.compile"
_SEVERAL = "What was compiled shares its name with something else: pass `dynamic=True` to `torch.compile`."


class Site(Struct, frozen=True):
    """A `torch.compile(…)` or `@torch.compile` in the program."""

    snapshot: Snapshot
    node: ast.expr
    decorates: bool


class CallSite(Struct, frozen=True):
    """A call of a compiled function or module."""

    snapshot: Snapshot
    node: ast.Call


def sites(snapshot: Snapshot, function: Function) -> list[Site]:
    """Find where a function or its class is compiled. Raises Refused for too many files."""
    files = program_files(snapshot)
    if files is None:
        raise Refused("The program has too many files to find where this is compiled: pass `dynamic=True` there.")
    found = []
    for node in function.node.decorator_list:
        if full_name(_index(snapshot), node.func if isinstance(node, ast.Call) else node) == COMPILE:
            found.append(Site(snapshot, node, True))
    for each in files:
        found += [Site(each, call, False) for call in _compiling(each, snapshot, function)]
    return found


def calls(snapshot: Snapshot, function: Function, compiled: list[Site]) -> list[CallSite] | None:
    """Return the calls of the compiled function; None if it is passed on, so some may be missed."""
    found: list[CallSite] = []
    for each in program_files(snapshot) or ():
        for node in _results(each, snapshot, function, compiled):
            parent = _index(each).parents.get(node)
            if isinstance(parent, ast.Call) and parent.func is node:
                found.append(CallSite(each, parent))
            elif isinstance(parent, ast.Attribute):
                if parent.attr in ("forward", "__call__", "compile"):
                    return None
            elif isinstance(getattr(node, "ctx", None), ast.Load):
                return None
    return found


def is_traced(snapshot: Snapshot, function: Function) -> bool:
    """Whether a function was traced in a recorded run."""
    if snapshot.facts is None or snapshot.placement is None:
        return False
    return any(snapshot.placement.line(each.first_line) == function.first_line for each in snapshot.facts.calls)


def _compiling(here: Snapshot, snapshot: Snapshot, function: Function) -> Iterator[ast.Call]:
    owner, _, name = function.qualified_name.rpartition(".")
    wanted = owner.rpartition(".")[2] if owner and name in ("forward", "__call__") else name
    index = _index(here)
    for each in index.calls.values():
        for call in each:
            compiles = full_name(index, call.func) == COMPILE and call.args
            if compiles and any(_means(index, node, here, snapshot, wanted) for node in _origins(index, call.args[0])):
                yield call


def _origins(index: Index, node: ast.expr) -> Iterator[ast.expr]:
    """Yield the names that a compiled expression may mean: its own, assigned ones, its class."""
    yield node.func if isinstance(node, ast.Call) else node
    for each in ast.walk(index.tree):
        if not isinstance(each, ast.Assign) or dotted(node) not in map(dotted, each.targets) or dotted(node) is None:
            continue
        value = each.value
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            if full_name(index, value.func) is not None:
                break
            value = value.func.value  # `Net().cuda().eval()`
        yield value.func if isinstance(value, ast.Call) else value


def _means(index: Index, node: ast.expr, here: Snapshot, snapshot: Snapshot, wanted: str) -> bool:
    name = dotted(node)
    if name is None or name.rpartition(".")[2] != wanted:
        return False
    if here.path == snapshot.path:
        return name == wanted
    module, _, last = (full_name(index, node) or "").rpartition(".")
    path = PurePath(snapshot.path)
    return last == wanted and module.rpartition(".")[2] in (path.stem, path.parent.name)


def _results(here: Snapshot, snapshot: Snapshot, function: Function, compiled: list[Site]) -> Iterator[ast.expr]:
    """Yield the expressions of a file whose value is the compiled function."""
    index = _index(here)
    names = list(_decorated(here, snapshot, function, compiled))
    for site in compiled:
        parent = index.parents.get(site.node)
        if site.snapshot.path == here.path and not site.decorates:
            if isinstance(parent, ast.Assign):
                names += [(dotted(target), _scope(index, target)) for target in parent.targets if dotted(target)]
                if any(_is_given_else(index, site, target) for target in parent.targets):
                    raise Refused(_SEVERAL)
            elif isinstance(parent, ast.Call) and parent.func is site.node:
                yield site.node
            else:
                raise Refused("What was compiled is passed on: pass `dynamic=True` to `torch.compile`.")
    for node in ast.walk(index.tree):
        if isinstance(node, ast.Name | ast.Attribute) and (dotted(node), _scope(index, node)) in names:
            yield node


def _decorated(
    here: Snapshot, snapshot: Snapshot, function: Function, compiled: list[Site]
) -> Iterator[tuple[str | None, ast.AST]]:
    """Yield the name of a decorated function in a file, and where it is bound."""
    name, method = function.node.name, isinstance(_index(snapshot).parents.get(function.node), ast.ClassDef)
    if method or not any(site.decorates for site in compiled):
        return
    if here.path == snapshot.path:
        yield name, _scope(_index(here), function.node)
    elif any(
        isinstance(each, ast.ImportFrom) and any((alias.asname or alias.name) == name for alias in each.names)
        for each in _index(here).imports
    ):
        yield name, _index(here).tree


def _scope(index: Index, node: ast.AST) -> ast.AST:
    """Return where a name is bound: a function, the file, the class if it is `self`."""
    name = node.name if isinstance(node, FunctionNode) else str(dotted(node))
    first = name.partition(".")[0]
    scope = index.parents.get(node)
    while scope is not None and not isinstance(scope, ast.Module):
        if isinstance(scope, FunctionNode) and first != "self" and _binds(scope, first):
            return scope
        if isinstance(scope, ast.ClassDef) and first == "self":
            return scope
        scope = index.parents.get(scope)
    return index.tree


def _binds(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> bool:
    """Whether a function, or one inside of it, has a local of that name."""
    inside = [each for each in ast.walk(function) if each is not function]
    if any(isinstance(each, ast.Global | ast.Nonlocal) and name in each.names for each in inside):
        return False
    return any(
        (isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Store))
        or (isinstance(each, ast.arg) and each.arg == name)
        or (isinstance(each, FunctionNode | ast.ClassDef) and each.name == name)
        for each in inside
    )


def _is_given_else(index: Index, site: Site, target: ast.expr) -> bool:
    """Whether a name is given more than what was compiled and its original."""
    name, scope = dotted(target), _scope(index, target)
    others = [
        each
        for each in ast.walk(index.tree)
        if dotted(each) == name
        and isinstance(getattr(each, "ctx", None), ast.Store)
        and each is not target
        and _scope(index, each) is scope
    ]
    compiled = site.node.args[0] if isinstance(site.node, ast.Call) and site.node.args else None
    itself = compiled is not None and dotted(compiled) == name
    return len(others) > itself


def _index(snapshot: Snapshot) -> Index:
    if snapshot.text.tree is None:
        raise Refused(f"{PurePath(snapshot.path).name} is not Python as it is now: what it compiles is not known.")
    return snapshot.text.index
