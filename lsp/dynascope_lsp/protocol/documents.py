"""Keep the open documents as the editor has them.

pygls takes a form feed, and what else Python's `splitlines` splits at, for the end of a line, and fails at documents
that are not open.
"""

from __future__ import annotations

from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams, JsonRpcInvalidRequest
from pygls.workspace import TextDocument, Workspace

from dynascope_lsp.documents.text import LINE_END, characters


class OpenDocument(TextDocument):
    """An open document, with the ends of lines that LSP knows."""

    def apply_change(self, change: types.TextDocumentContentChangeEvent) -> None:
        if not isinstance(change, types.TextDocumentContentChangePartial):
            self._source = change.text
            return
        source = self.source
        ends = list(LINE_END.finditer(source))
        start = self._offset(source, ends, change.range.start)
        end = max(start, self._offset(source, ends, change.range.end))
        self._source = source[:start] + change.text + source[end:]

    def _offset(self, source: str, ends: list[Any], position: types.Position) -> int:
        """Return the index of a position, at most the end of its line or of the text."""
        if position.line > len(ends):
            return len(source)
        first = ends[position.line - 1].end() if position.line > 0 else 0
        last = ends[position.line].start() if position.line < len(ends) else len(source)
        return first + characters(source[first:last], position.character, self.position_codec.encoding)


class OpenDocuments(Workspace):
    """The documents and folders that a client has open."""

    @classmethod
    def of(cls, workspace: Workspace) -> OpenDocuments:
        """Return the same workspace, before anything is opened in it."""
        made = cls(
            workspace.root_uri, types.TextDocumentSyncKind.Incremental, None, workspace.position_encoding or "utf-16"
        )
        for folder in workspace.folders.values():
            made.add_folder(folder)
        return made

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> TextDocument:
        try:
            return OpenDocument(doc_uri, source, version, language_id, position_codec=self.position_codec)
        except ValueError:
            raise JsonRpcInvalidParams(f"{doc_uri!r} is not a URI") from None

    def update_text_document(
        self, text_doc: types.VersionedTextDocumentIdentifier, change: types.TextDocumentContentChangeEvent
    ) -> None:
        try:
            super().update_text_document(text_doc, change)
        except KeyError:
            raise JsonRpcInvalidRequest(f"{text_doc.uri} is not open") from None

    def update_notebook_document(self, params: types.DidChangeNotebookDocumentParams) -> None:
        if self.get_notebook_document(notebook_uri=params.notebook_document.uri) is None:
            raise JsonRpcInvalidRequest(f"{params.notebook_document.uri} is not open")
        super().update_notebook_document(params)
