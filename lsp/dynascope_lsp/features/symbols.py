"""Serve symbols (a document's compiles under their functions, the workspace's by name) and origins of guards."""

from __future__ import annotations

from dynascope.explain.compiles import ended, title
from dynascope.facts import model
from dynascope.facts.process_names import compile_names
from lsprotocol import types

from dynascope_lsp.recorded.compiles import compiled_functions
from dynascope_lsp.registry import feature
from dynascope_lsp.session import LspSession

MOST = 200
MOST_OF_A_FUNCTION = 100
"""The most compiles, the newest, that are listed below a function: an outline of thousands is megabytes."""


@feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
def document_symbol(session: LspSession, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
    snapshot = session.snapshot(params.text_document.uri)
    if snapshot is None or snapshot.facts is None:
        return []
    found = []
    for each in compiled_functions(snapshot):
        whole = types.Range(snapshot.text.position(each.line, 0), snapshot.text.range_of_line(each.last_line).end)
        name = snapshot.text.range_of_word(each.name_line, each.simple_name) or snapshot.text.range_of_line(
            each.name_line
        )
        children = [
            types.DocumentSymbol(
                title(compile, snapshot.facts.compile_id(compile.id)),
                types.SymbolKind.Event,
                whole,
                name,
                detail=_detail(compile),
            )
            for compile in each.compiles[-MOST_OF_A_FUNCTION:]
        ]
        if (left_out := len(each.compiles) - len(children)) > 0:
            children.insert(0, types.DocumentSymbol(f"… {left_out} earlier", types.SymbolKind.Event, whole, name))
        found.append(
            types.DocumentSymbol(
                each.name, types.SymbolKind.Function, whole, name, detail=each.summary, children=children
            )
        )
    return found


@feature(types.WORKSPACE_SYMBOL)
def workspace_symbol(session: LspSession, params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
    """Return compiles of each store's newest launch with the query's letters in order."""
    found = []
    for reader in session.stores.readers():
        compiles = reader.compiles(reader.newest_launch(compiled=True))
        names = compile_names(compiles, reader.runs())
        for each in compiles:
            name = title(each, names[each.id])
            if not each.path or not _matches(name, params.query):
                continue
            line = session.locate(each.path, each.line) or each.line
            place = types.Range(types.Position(line - 1, 0), types.Position(line - 1, 0))
            location = types.Location(session.uri_of(each.path), place)
            found.append(types.WorkspaceSymbol(location, name, types.SymbolKind.Event, container_name=_detail(each)))
            if len(found) == MOST:
                return found
    return found


def _detail(compile: model.Compile) -> str:
    has_graph = compile.backend and compile.status not in ("skipped", "empty")
    return f"{ended(compile)}, {compile.backend}" if has_graph else ended(compile)


def _matches(name: str, query: str) -> bool:
    letters = iter(name.lower())
    return all(letter in letters for letter in query.lower() if not letter.isspace())


@feature(types.TEXT_DOCUMENT_DEFINITION)
def definition(session: LspSession, params: types.DefinitionParams) -> list[types.Location] | None:
    """Return guard origins on the name in `def`, where other servers return only that line."""
    snapshot = session.snapshot(params.text_document.uri)
    if snapshot is None or snapshot.facts is None or snapshot.placement is None:
        return None
    line = params.position.line + 1
    function = snapshot.text.index.function_starting(line)
    if function is None or line != function.name_line or snapshot.text.word_at(params.position) != function.node.name:
        return None
    found: dict[tuple[str, int], types.Location] = {}
    for each in (common.fact for common in snapshot.facts.distinct("recompiles")):
        if snapshot.placement.now(each) in (function.first_line, line) and each.guard_path and each.guard_line:
            now = session.locate(each.guard_path, each.guard_line)
            text = session.text_of(each.guard_path)
            if now is not None and text is not None:
                place = text.range_of_line(now)
                found[each.guard_path, now] = types.Location(session.uri_of(each.guard_path), place)
    return list(found.values()) or None
