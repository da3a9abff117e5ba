"""Create the pygls server with a session and every feature."""

from __future__ import annotations

import logging
from importlib import import_module
from pkgutil import iter_modules

from dynascope import __version__
from lsprotocol import types
from pygls.lsp.server import LanguageServer

from dynascope_lsp import features, registry
from dynascope_lsp.protocol.answering import Protocol
from dynascope_lsp.protocol.decoding import converter
from dynascope_lsp.session import LspSession

log = logging.getLogger(__name__)

NOTEBOOKS = types.NotebookDocumentSyncOptions(
    notebook_selector=[
        types.NotebookDocumentFilterWithNotebook(notebook="*", cells=[types.NotebookCellLanguage(language="python")])
    ]
)


class Server(LanguageServer):
    """A server that tells the user nothing of what a client has sent wrong: that is for the log."""

    def report_server_error(self, error: Exception, source: object) -> None:
        log.warning("%s", error)


def create_server() -> Server:
    """Return a server with every feature registered."""
    server = Server(
        "dynascope",
        __version__,
        text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
        notebook_document_sync=NOTEBOOKS,
        protocol_cls=Protocol,
        converter_factory=converter,
    )
    for module in iter_modules(features.__path__):
        import_module(f"{features.__name__}.{module.name}")
    registry.install(server, LspSession(server))
    return server
