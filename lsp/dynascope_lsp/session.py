"""The state of one client's session: settings, stores, documents. It is used only on the event loop's thread.

A request uses a `Snapshot` of its document; snapshots are kept until the document, the facts or the settings change.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import sysconfig
from collections import OrderedDict
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from dynascope.facts.file_names import name_files
from dynascope.facts.store import FILE_NAME, FOLDER_NAME
from lsprotocol import types
from msgspec import structs
from pygls import uris
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from dynascope_lsp.documents.text import Text
from dynascope_lsp.prediction import modules
from dynascope_lsp.prediction.project import Project
from dynascope_lsp.recorded import notebooks
from dynascope_lsp.recorded.file_facts import FactPositions, FileFacts
from dynascope_lsp.recorded.findings import Finding
from dynascope_lsp.recorded.snapshot import Snapshot
from dynascope_lsp.recorded.stores import Stores
from dynascope_lsp.settings import Settings
from dynascope_lsp.trials import FixOutcome

log = logging.getLogger(__name__)

ASK = "dynascope/ask"
"""The request to a client that declares `experimental.ask`: a question to the user, with one button."""
FILES_KEPT = 48
"""The number of files that are not open, such as those in stacks, whose text and facts are kept."""


class LspSession:
    def __init__(self, server: LanguageServer) -> None:
        self.server = server
        self.settings = Settings()
        self.stores = Stores(self.warn)
        self.project = self._new_project()
        self.configured = False
        """Whether the client has sent its settings, if they were requested."""
        self._settings_generation = 0
        self._snapshots: OrderedDict[str, tuple[object, Snapshot]] = OrderedDict()
        self._texts: OrderedDict[str, tuple[object, Text]] = OrderedDict()
        self._placements: OrderedDict[str, tuple[object, FactPositions | None]] = OrderedDict()
        self._facts: dict[str, FileFacts | None] = {}
        self._facts_generation = -1
        self._outcomes: dict[tuple[str, str, int], tuple[str, FixOutcome]] = {}
        self.watching: asyncio.Task[None] | None = None
        """The task that checks the stores several times a second."""
        self._names: tuple[int, dict[str, str]] = (-1, {})
        """The names of cells of notebooks by path, as of a generation of the stores."""
        name_files(self._given_name)

    @property
    def version(self) -> str:
        """Return a text that changes whenever facts, settings or cells change."""
        cells = hash(tuple(hash(source) for each in self._notebooks().values() for source in each.values()))
        return f"{self.stores.generation}.{self._settings_generation}.{self.project.generation}.{cells}"

    def use(self, settings: Settings) -> None:
        if self.settings.predictions and not settings.predictions:
            self.project = self._new_project()  # frees the memory of the old one
        self.settings = settings
        self._settings_generation += 1

    def choose_compile(self, compile: str) -> None:
        """Show the shapes of this compile in inlay hints until the settings change."""
        hints = structs.replace(self.settings.inlay_hints, compile=compile)
        self.use(structs.replace(self.settings, inlay_hints=hints))

    def client_runs(self, command: str) -> bool:
        """Whether the client declares the command in `experimental.commands.commands`."""
        return command in (self._experimental("commands", "commands") or ())

    @property
    def client_shows_diagnostics_in_hovers(self) -> bool:
        """Whether the client declares `experimental.diagnosticsInHovers`: hovers do not repeat them."""
        return bool(self._experimental("diagnosticsInHovers"))

    @property
    def client_wants_plain_hovers(self) -> bool:
        """Whether the client shows hovers as plain text, or would rather do so."""
        documents = self.server.client_capabilities.text_document
        formats = documents.hover.content_format if documents and documents.hover else None
        return bool(formats and formats[0] == types.MarkupKind.PlainText)

    @property
    def client_shows_documents(self) -> bool:
        """Whether the client opens a page when asked with `window/showDocument`."""
        window = self.server.client_capabilities.window
        return bool(window and window.show_document and window.show_document.support)

    @property
    def client_watches_facts(self) -> bool:
        """Whether the client declares `experimental.factsChanged`: it is told when facts change."""
        return bool(self._experimental("factsChanged"))

    async def ask(self, question: str, detail: str, button: str) -> bool:
        """Ask the user a question with one button; return whether it was pressed.

        A client that declares `experimental.ask` shows it so that it waits for an answer; others as they show messages.
        """
        if self._experimental("ask"):
            asked = {"question": question, "detail": detail, "button": button}
            return bool(await self.server.protocol.send_request_async(ASK, asked))
        buttons = [types.MessageActionItem(button)]
        shown = types.ShowMessageRequestParams(types.MessageType.Warning, f"{question} {detail}", buttons)
        return await self.server.window_show_message_request_async(shown) is not None

    def _experimental(self, *keys: str) -> Any:
        value: Any = self.server.client_capabilities.experimental
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else getattr(value, key, None)
        return value

    def warn(self, message: str) -> None:
        """Show the user a warning."""
        log.warning("%s", message)
        self.server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))

    def _given_name(self, path: str) -> str | None:
        if self._names[0] != self.stores.generation:
            named = [reader.given_names() for reader in self.stores.readers()]
            self._names = self.stores.generation, {path: name for each in named for path, name in each.items()}
        return self._names[1].get(path)

    def add_folder(self, uri: str) -> None:
        path = path_of(uri)
        if path is not None:
            self.stores.add_folder(Path(path))

    def remove_folder(self, uri: str) -> None:
        path = path_of(uri)
        if path is not None:
            self.stores.remove_folder(Path(path))

    def snapshot(self, uri: str) -> Snapshot | None:
        """Return a snapshot of the document; None if it is neither open nor on disk."""
        text = self._text(uri)
        if text is None:
            return None
        path = path_of(uri) or uri
        key = (text, self.version)
        kept = self._snapshots.get(uri)
        if kept is not None and kept[0] == key:
            return kept[1]
        snapshot = Snapshot(self, uri, path, text, self.settings, self._facts_about(path, uri, text))
        _keep(self._snapshots, uri, (key, snapshot))
        return snapshot

    def locate(self, path: str, line: int) -> int | None:
        """Return the present line of a recorded line; the same one for a file without facts."""
        text = self._text(self.uri_of(path))
        if text is None:
            return None
        key = (text, self.stores.generation)
        kept = self._placements.get(path)
        if kept is None or kept[0] != key:
            facts = self._facts_about(path, path, text)
            kept = (key, FactPositions(facts, text) if facts else None)
            _keep(self._placements, path, kept)
        placement = kept[1]
        return placement.line(line) if placement is not None else line

    def uri_of(self, path: str) -> str:
        """Return the URI of the open document if there is one (symbolic links, notebook cells)."""
        for document in self.server.workspace.text_documents.values():
            if path in (document.uri, path_of(document.uri)):  # one without a file is identified by its URI
                return str(document.uri)
        address: str | None = uris.from_fs_path(path)
        return path if address is None else address

    def text_of(self, path: str) -> Text | None:
        return self._text(self.uri_of(path))

    def is_ours(self, path: str) -> bool:
        """Whether a file is the user's: in the workspace, and not in an environment."""
        if is_library(path):
            return False
        folders = self._folders()
        return not folders or any(path.startswith(folder + os.sep) for folder in folders)

    def _is_alone(self, path: str) -> bool:
        """Whether a file of the user is outside the workspace: it is recorded into its own folder."""
        return not is_library(path) and not any(path.startswith(folder + os.sep) for folder in self._folders())

    def snapshot_of(self, path: str) -> Snapshot | None:
        return self.snapshot(self.uri_of(path))

    def predictions(self, path: str) -> list[Finding]:
        for notebook, cells in self._notebooks().items():
            if path in cells:
                first = modules.first_line(list(cells.values()), list(cells).index(path))
                count = cells[path].count("\n") + 1
                found = self.project.predictions(notebook)
                return [structs.replace(f, line=f.line - first + 1) for f in found if 0 <= f.line - first < count]
        return self.project.predictions(path)

    def search(self) -> bool:
        """Search more of the workspace for predictions; return whether there are new ones."""
        return self.configured and self.settings.predictions and self.project.scan()

    @property
    def searching(self) -> bool:
        """Whether a part of the workspace is still to be searched."""
        return self.configured and self.settings.predictions and self.project.searching

    def remember(self, snapshot: Snapshot, title: str, line: int, outcome: FixOutcome) -> None:
        """Keep the outcome of a fix that was tried, until the text changes."""
        self._outcomes[snapshot.path, title, line] = (snapshot.text.source, outcome)

    def tried(self, snapshot: Snapshot, title: str, line: int) -> FixOutcome | None:
        """Return the outcome of a fix that is offered for a line; None where it was not tried."""
        source, outcome = self._outcomes.get((snapshot.path, title, line), (None, None))
        return outcome if source == snapshot.text.source else None

    def facts_failed(self, error: Exception) -> None:
        self._facts.clear()
        self.stores.failed(error)

    def file_changed(self, uri: str) -> None:
        """Handle a change on disk: add a new store, or update a Python file."""
        path = path_of(uri)
        if path is None:
            return
        if Path(path).parent.name == FOLDER_NAME:
            self.stores.add(Path(path).with_name(FILE_NAME))
        elif self.settings.predictions:
            self.project.file_changed(path)

    def forget(self, uri: str) -> None:
        """Forget a closed document: its text is read from disk again."""
        self._snapshots.pop(uri, None)
        self._texts.pop(uri, None)

    def files_of_interest(self) -> set[str]:
        """Return the user's files that have facts or predictions."""
        recorded = {path for reader in self.stores.readers() for path in reader.files() if self.is_ours(path)}
        predicted = self.project.paths() if self.settings.predictions else set()
        return {path for path in recorded | predicted if os.path.exists(path)}

    def open_uris(self) -> list[str]:
        return [document.uri for document in self.server.workspace.text_documents.values()]

    def folder_uris(self) -> list[str]:
        return [folder.uri for folder in self.server.workspace.folders.values()]

    def _open_document(self, uri: str) -> TextDocument | None:
        """Return an open document; pygls keeps it by its URI without `%20` and the like."""
        documents: dict[str, TextDocument] = self.server.workspace.text_documents
        return documents.get(unquote(uri))

    def _facts_about(self, path: str, uri: str, text: Text) -> FileFacts | None:
        if self._facts_generation != self.stores.generation:
            self._facts.clear()
            self._facts_generation = self.stores.generation
        if notebooks.is_cell(uri):
            path = notebooks.recorded_path(self.stores, text) or ""
        if path not in self._facts:
            if os.path.isabs(path):  # a document without a file is in no folder, and not in that of this process
                self.stores.add_above(Path(path).parent)
                if self._open_document(uri) is not None and self._is_alone(path):
                    self.stores.add_beside(Path(path))
            found = self.stores.view(path)
            self._facts_generation = self.stores.generation
            self._facts[path] = FileFacts(found) if found else None
        return self._facts[path]

    def _text(self, uri: str) -> Text | None:
        document = self._open_document(uri)
        if document is not None:
            kept = self._texts.get(uri)
            if kept is None or kept[1].source != document.source:
                encoding = self.server.workspace.position_encoding or "utf-16"
                kept = (None, Text(document.source, encoding))
                self._texts[uri] = kept
            return kept[1]
        path = path_of(uri)
        return self._text_on_disk(uri, path) if path is not None else None

    def _text_on_disk(self, uri: str, path: str) -> Text | None:
        try:
            status = os.stat(path)
            stamp = (status.st_mtime_ns, status.st_size)
            kept = self._texts.get(uri)
            if kept is None or kept[0] != stamp:
                source = Path(path).read_text(encoding="utf-8", errors="replace")
                kept = (stamp, Text(source, self.server.workspace.position_encoding or "utf-16"))
        except OSError:
            return None
        _keep(self._texts, uri, kept)
        return kept[1]

    def _notebooks(self) -> dict[str, dict[str, str]]:
        """Collect the sources of the code cells of open notebooks, by path and by address."""
        return {
            path_of(each.uri) or each.uri: {
                cell.document: document.source
                for cell in each.cells
                if cell.kind == types.NotebookCellKind.Code
                and (document := self._open_document(cell.document)) is not None
            }
            for each in self.server.workspace.notebook_documents.values()
        }

    def _new_project(self) -> Project:
        return Project(self._source_of, self._folders, self._version_of)

    def _source_of(self, path: str) -> Text | None:
        """Return the text of an open document, or of a file, which is not cached here."""
        uri = self.uri_of(path)
        if self._open_document(uri) is not None:
            return self._text(uri)
        cells = self._notebooks().get(path)
        if cells is not None:
            return Text(modules.as_module(list(cells.values())))
        try:
            return Text(Path(path).read_text(encoding="utf-8", errors="replace"))
        except OSError:
            return None

    def _version_of(self, path: str) -> object:
        document = self._open_document(self.uri_of(path))
        if document is not None:
            return hash(document.source)
        cells = self._notebooks().get(path)
        if cells is not None:
            return hash(tuple(cells.items()))
        try:
            status = os.stat(path)
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size

    def _folders(self) -> list[str]:
        return [path for uri in self.folder_uris() if (path := path_of(uri)) is not None]


@lru_cache(maxsize=4096)
def path_of(uri: str) -> str | None:
    """Return the real path of a `file:` URI; None for any other, and for one of no file."""
    if not uri.startswith("file:"):
        return None
    try:
        path = uris.to_fs_path(uri)
        return os.path.realpath(path) if path else None
    except ValueError:  # a null byte, or half an IPv6 address
        return None


@lru_cache(maxsize=4096)
def is_library(path: str) -> bool:
    """Whether a file belongs to an installation or an environment."""
    parts = Path(path).parts
    standard = sysconfig.get_paths()["stdlib"]
    return (
        "site-packages" in parts
        or "dist-packages" in parts
        or path.startswith((standard + os.sep, sys.prefix + "/lib/"))
    )


def _keep(kept: OrderedDict[str, object] | OrderedDict, key: str, value: object) -> None:  # type: ignore[type-arg]
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > FILES_KEPT:
        kept.popitem(last=False)
