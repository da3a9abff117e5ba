"""The server: its name, its session, and how it hears of new facts.

One thread does everything, in pygls' event loop: requests, and a look at the stores several times a second. A query
takes microseconds to milliseconds, and a store's writers never hold its readers up, so nothing is worth a second
thread.
"""

from __future__ import annotations

import asyncio
import logging
from importlib.metadata import PackageNotFoundError, version

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from dynascope_lsp import registry
from dynascope_lsp.session import Session

LOOK_SECONDS = 0.25
"""How often the stores are looked at: microseconds each."""

log = logging.getLogger(__name__)

NOTEBOOKS = types.NotebookDocumentSyncOptions(
    notebook_selector=[
        types.NotebookDocumentFilterWithNotebook(notebook="*", cells=[types.NotebookCellLanguage(language="python")])
    ]
)


class Server(LanguageServer):
    """pygls' server, with a session."""

    def __init__(self) -> None:
        super().__init__(
            "dynascope",
            _version(),
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            notebook_document_sync=NOTEBOOKS,
        )
        self.session = Session(self)
        self._watching: asyncio.Task[None] | None = None

    def watch(self) -> None:
        """Begin to look at the stores, and to tell the client when facts have changed."""
        if self._watching is None:
            self._watching = asyncio.get_running_loop().create_task(self._watch())

    async def _watch(self) -> None:
        from dynascope_lsp.features.refreshing import refresh

        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                changed = self.session.stores.refresh()
                if self.session.project.scan() or changed:
                    refresh(self.session)
            except Exception:
                log.exception("looking at the stores failed")


def create_server() -> Server:
    """A server with every feature registered."""
    server = Server()
    registry.install(server)
    return server


def _version() -> str:
    try:
        return version("dynascope")
    except PackageNotFoundError:
        return "unknown"  # run from a checkout that is not installed
