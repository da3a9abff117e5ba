"""Create the pygls server with a session and every feature."""

from __future__ import annotations

from dynascope import __version__
from lsprotocol import types
from pygls.lsp.server import LanguageServer

from dynascope_lsp import registry
from dynascope_lsp.session import Session

NOTEBOOKS = types.NotebookDocumentSyncOptions(
    notebook_selector=[
        types.NotebookDocumentFilterWithNotebook(notebook="*", cells=[types.NotebookCellLanguage(language="python")])
    ]
)


def create_server() -> LanguageServer:
    """Return a server with every feature registered."""
    server = LanguageServer(
        "dynascope",
        __version__,
        text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
        notebook_document_sync=NOTEBOOKS,
    )
    registry.install(server, Session(server))
    return server
