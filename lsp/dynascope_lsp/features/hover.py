"""Serve hovers: values of names, nodes of calls, compiles of functions, and findings."""

from __future__ import annotations

import ast
import os

from lsprotocol import types

from dynascope_lsp.documents.syntax import Index, dotted
from dynascope_lsp.features.diagnostics import range_of
from dynascope_lsp.recorded import markdown
from dynascope_lsp.recorded.compiles import CompiledFunction, compiled_functions
from dynascope_lsp.recorded.markdown import plain
from dynascope_lsp.recorded.shapes import by_value, values_of
from dynascope_lsp.recorded.snapshot import Snapshot
from dynascope_lsp.registry import feature
from dynascope_lsp.session import LspSession


@feature(types.TEXT_DOCUMENT_HOVER)
def hover(session: LspSession, params: types.HoverParams) -> types.Hover | None:
    snapshot = session.snapshot(params.text_document.uri)
    if snapshot is None:
        return None
    position = params.position
    values = _values(snapshot, position) or _nodes(snapshot, position)
    parts = [*values, *_functions(session, snapshot, position), *_findings(session, snapshot, position)]
    if not parts:
        return None
    text = "\n\n---\n\n".join(parts)
    if session.client_wants_plain_hovers:
        return types.Hover(types.MarkupContent(types.MarkupKind.PlainText, plain(text)))
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text))


def _values(snapshot: Snapshot, position: types.Position) -> list[str]:
    """Return the shapes of the name here, and where it became an input of the graph."""
    name = snapshot.text.word_at(position)
    if name is None or snapshot.facts is None or snapshot.placement is None:
        return []
    column = snapshot.text.column(position)
    read = [each for each in snapshot.text.index.read.get(position.line + 1, ()) if each.id == name]
    is_read = any(each.col_offset <= column <= (each.end_col_offset or 0) for each in read)
    found = values_of(snapshot, name, position.line + 1, is_read)
    if not found:
        return []
    return [markdown.values(snapshot.facts, name, by_value(found))]


def _nodes(snapshot: Snapshot, position: types.Position) -> list[str]:
    """Return the graph nodes of this line if the position is in a call."""
    line, index = position.line + 1, snapshot.text.index
    if snapshot.facts is None or snapshot.placement is None:
        return []
    column = snapshot.text.column(position)
    if not any(each.col_offset <= column <= (each.end_col_offset or 0) for each in index.calls.get(line, ())):
        return []
    seen = [each for _, each in snapshot.placement.tensors(line, line) if each.fact.node]
    return [markdown.nodes(snapshot.facts, seen)] if seen else []


def _functions(session: LspSession, snapshot: Snapshot, position: types.Position) -> list[str]:
    """Return the compiles on `def`, the function's name, a decorator or `torch.compile(…)`."""
    line, index = position.line + 1, snapshot.text.index
    word = snapshot.text.word_at(position)
    call = compile_call_at(index, line, snapshot.text.column(position))
    if call is not None:
        return [
            f"{in_file}{markdown.compiles(other.facts, each)}"
            for other, each in functions_compiled_by(session, index, call)
            if other.facts is not None
            for in_file in ["" if other.path == snapshot.path else f"In `{os.path.basename(other.path)}`: "]
        ]
    if snapshot.facts is None or word is None:
        return []
    return [
        markdown.compiles(snapshot.facts, each)
        for each in compiled_functions(snapshot)
        if each.line <= line <= each.name_line and (line < each.name_line or word in ("def", "async", each.simple_name))
    ]


def _findings(session: LspSession, snapshot: Snapshot, position: types.Position) -> list[str]:
    """Return the findings here with their pages, except those that the client's hovers show."""
    found = []
    for finding in snapshot.findings:
        place = range_of(snapshot, finding)
        if session.client_shows_diagnostics_in_hovers and snapshot.settings.severity_of(finding.kind) is not None:
            continue
        if place.start.line <= position.line <= place.end.line and (
            finding.columns is None or place.start.character <= position.character <= place.end.character
        ):
            found.append(markdown.finding(finding))
    return found


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
