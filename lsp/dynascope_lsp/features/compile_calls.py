"""Find the recorded functions and methods, of any file, that `torch.compile(…)` compiled."""

from __future__ import annotations

import ast

from dynascope_lsp.documents.syntax import Index, dotted
from dynascope_lsp.recorded.compiles import CompiledFunction, compiled_functions
from dynascope_lsp.recorded.snapshot import Snapshot
from dynascope_lsp.session import LspSession


def compile_call_at(index: Index, line: int, column: int) -> ast.Call | None:
    """Return the call with arguments whose `torch.compile` is at a line and column (bytes)."""
    for call in index.calls.get(line, ()):
        name = call.func
        if dotted(name) == "torch.compile" and call.args and name.col_offset <= column <= (name.end_col_offset or 0):
            return call
    return None


def functions_compiled_by(session: LspSession, index: Index, call: ast.Call) -> list[tuple[Snapshot, CompiledFunction]]:
    """Return the functions that the argument may mean, with their documents, by file and line."""
    names = _names(index, call.args[0])
    paths = {
        each.path
        for reader in session.stores.readers()
        for each in reader.compiles(reader.newest_launch(compiled=True))
        if each.path and _is_named(each.function, names)
    }
    snapshots = [session.snapshot(session.uri_of(path)) for path in sorted(paths)]
    return [
        (snapshot, function)
        for snapshot in snapshots
        if snapshot is not None
        for function in compiled_functions(snapshot)
        if _is_named(function.name, names)
    ]


def _names(index: Index, node: ast.expr) -> set[str]:
    """Return the names of functions or classes in an expression and in assignments to its names."""
    found = _last_names(node)
    for each in ast.walk(index.tree):
        if isinstance(each, ast.Assign) and any(_last_names(target) & found for target in each.targets):
            found |= _last_names(each.value)
    return found


def _last_names(node: ast.expr) -> set[str]:
    """Return the last parts of names: `Net` of `models.Net(8)`."""
    names = (dotted(each) for each in ast.walk(node) if isinstance(each, ast.Name | ast.Attribute))
    return {name.rpartition(".")[2] for name in names if name is not None}


def _is_named(function: str, names: set[str]) -> bool:
    """Whether a function, or the class that it is a method of, has one of these names."""
    return function in names or function.rpartition(".")[0] in names
