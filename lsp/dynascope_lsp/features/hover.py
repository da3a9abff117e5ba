"""Serve hovers: values of names, nodes of calls, compiles of functions, and findings."""

from __future__ import annotations

import os

from lsprotocol import types

from dynascope_lsp.features.compile_calls import compile_call_at, functions_compiled_by
from dynascope_lsp.features.diagnostics import range_of
from dynascope_lsp.recorded import markdown
from dynascope_lsp.recorded.compiles import compiled_functions
from dynascope_lsp.recorded.plain_text import plain
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
    found = values_of(snapshot, name, position.line + 1)
    if not found:
        return []
    return [markdown.values(snapshot.facts, name, by_value(found))]


def _nodes(snapshot: Snapshot, position: types.Position) -> list[str]:
    """Return the graph nodes of this line if the position is in a call."""
    line, index = position.line + 1, snapshot.text.index
    if index is None or snapshot.facts is None or snapshot.placement is None:
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
    call = compile_call_at(index, line, snapshot.text.column(position)) if index is not None else None
    if index is not None and call is not None:
        return [
            _in_file(snapshot, other, markdown.compiles(other.facts, each))
            for other, each in functions_compiled_by(session, index, call)
            if other.facts is not None
        ]
    if snapshot.facts is None or word is None:
        return []
    return [
        markdown.compiles(snapshot.facts, each)
        for each in compiled_functions(snapshot)
        if each.line <= line <= each.name_line and (line < each.name_line or word in ("def", "async", each.simple_name))
    ]


def _in_file(snapshot: Snapshot, other: Snapshot, text: str) -> str:
    """Return the text, with the file's name if it is about another file."""
    return text if other.path == snapshot.path else f"In `{os.path.basename(other.path)}`: {text}"


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
