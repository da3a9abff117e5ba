"""The server itself: its name, its lifecycle, and the text synchronisation every feature stands on."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from lsprotocol import types
from pygls.lsp.server import LanguageServer


def create_server() -> LanguageServer:
    """A server that declares what it serves: documents kept in step with the editor, incrementally."""
    return LanguageServer("dynascope", _version(), text_document_sync_kind=types.TextDocumentSyncKind.Incremental)


def main() -> None:
    """Speak LSP over stdin and stdout until the client says `exit`."""
    create_server().start_io()


def _version() -> str:
    try:
        return version("dynascope")
    except PackageNotFoundError:
        return "unknown"  # run from a checkout that is not installed
