"""An editor for tests: pygls' client with a server of its own, open documents, and what the server pushed."""

from __future__ import annotations

import ast
import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60

PULLS = types.ClientCapabilities(
    general=types.GeneralClientCapabilities(position_encodings=[types.PositionEncodingKind.Utf16]),
    workspace=types.WorkspaceClientCapabilities(
        configuration=True,
        workspace_folders=True,
        diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True),
        inlay_hint=types.InlayHintWorkspaceClientCapabilities(refresh_support=True),
        code_lens=types.CodeLensWorkspaceClientCapabilities(refresh_support=True),
        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
    ),
    text_document=types.TextDocumentClientCapabilities(
        diagnostic=types.DiagnosticClientCapabilities(),
        publish_diagnostics=types.PublishDiagnosticsClientCapabilities(related_information=True),
        code_action=types.CodeActionClientCapabilities(disabled_support=True),
    ),
    window=types.WindowClientCapabilities(show_document=types.ShowDocumentClientCapabilities(support=True)),
    notebook_document=types.NotebookDocumentClientCapabilities(types.NotebookDocumentSyncClientCapabilities()),
    experimental={"commands": {"commands": ["dynascope.debugFunction", "dynascope.debugFinding"]}},
)
"""What VS Code can."""
PUSHED = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        publish_diagnostics=types.PublishDiagnosticsClientCapabilities(related_information=True)
    )
)
"""What an older editor can."""


class Editor:
    def __init__(self) -> None:
        self.client = LanguageClient("editor", "1")
        self.settings: Any = None
        self.published: dict[str, list[types.Diagnostic]] = {}
        self.refreshed: list[str] = []
        self.messages: list[str] = []
        self.answer: types.InitializeResult
        self._news = asyncio.Event()
        self._versions: dict[str, int] = {}
        client = self.client
        client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self._on_published(params))
        client.feature(types.WINDOW_SHOW_MESSAGE)(lambda params: self._on_message(params))
        client.feature(types.WORKSPACE_CONFIGURATION)(lambda params: [self.settings for _ in params.items])
        client.feature(types.CLIENT_REGISTER_CAPABILITY)(lambda params: None)
        for method in (
            types.WORKSPACE_DIAGNOSTIC_REFRESH,
            types.WORKSPACE_INLAY_HINT_REFRESH,
            types.WORKSPACE_CODE_LENS_REFRESH,
        ):
            client.feature(method)(self._on_refresh(method))

    async def start(self, folders: list[Path], capabilities: types.ClientCapabilities, options: Any = None) -> None:
        await self.client.start_io(sys.executable, "-m", "dynascope_lsp")
        self.answer = await self.client.initialize_async(
            types.InitializeParams(
                capabilities=capabilities,
                root_uri=folders[0].as_uri() if folders else None,
                workspace_folders=[types.WorkspaceFolder(each.as_uri(), each.name) for each in folders],
                initialization_options=options,
            )
        )
        self.client.initialized(types.InitializedParams())

    async def leave(self) -> int | None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        server = self.client._server
        assert server is not None
        return await server.wait()

    def open(self, path: Path, text: str | None = None) -> str:
        uri = path.as_uri()
        item = types.TextDocumentItem(uri, "python", 1, path.read_text() if text is None else text)
        self._versions[uri] = 1
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def change(self, uri: str, text: str) -> None:
        self._versions[uri] += 1
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self._versions[uri], uri),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    async def diagnostics(self, uri: str) -> list[types.Diagnostic]:
        report = await self.client.text_document_diagnostic_async(
            types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
        )
        assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
        return list(report.items)

    async def hover(self, uri: str, line: int, character: int) -> str:
        """Of a position, its line from 1; empty without an answer."""
        found = await self.client.text_document_hover_async(
            types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line - 1, character))
        )
        if found is None:
            return ""
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    async def hints(self, uri: str, first: int = 1, last: int = 1000) -> dict[tuple[int, int], str]:
        """Labels of inlay hints by line (from 1) and character."""
        found = await self.client.text_document_inlay_hint_async(
            types.InlayHintParams(
                types.TextDocumentIdentifier(uri),
                types.Range(types.Position(first - 1, 0), types.Position(last - 1, 0)),
            )
        )
        return {(each.position.line + 1, each.position.character): str(each.label) for each in found or []}

    async def actions(self, uri: str, line: int, only: list[str] | None = None) -> dict[str, types.CodeAction]:
        place = types.Range(types.Position(line - 1, 0), types.Position(line - 1, 0))
        found = await self.client.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(uri), place, types.CodeActionContext(diagnostics=[], only=only)
            )
        )
        return {each.title: _action(each) for each in found or []}

    async def configured(self) -> None:
        """The server has the settings, and says so by asking to be asked again."""
        await self.until(lambda: types.WORKSPACE_DIAGNOSTIC_REFRESH in self.refreshed)

    async def until(self, condition: Callable[[], object], seconds: float = PATIENCE) -> None:
        """Wait for something that the server sends."""

        async def wait() -> None:
            while not condition():
                self._news.clear()
                await self._news.wait()

        await asyncio.wait_for(wait(), seconds)

    def _on_published(self, params: types.PublishDiagnosticsParams) -> None:
        self.published[params.uri] = list(params.diagnostics)
        self._news.set()

    def _on_message(self, params: types.ShowMessageParams) -> None:
        self.messages.append(params.message)
        self._news.set()

    def _on_refresh(self, method: str) -> Callable[[Any], None]:
        def handler(params: Any) -> None:
            self.refreshed.append(method)
            self._news.set()

        return handler


def _action(found: types.CodeAction | types.Command) -> types.CodeAction:
    """lsprotocol 2025.0 reads a code action that has a command as a command, whose name is the text of that command."""
    if isinstance(found, types.CodeAction):
        return found
    return types.CodeAction(found.title, command=types.Command(**ast.literal_eval(found.command)))


@asynccontextmanager
async def editor(
    *folders: Path, capabilities: types.ClientCapabilities = PULLS, settings: Any = None, options: Any = None
) -> AsyncIterator[Editor]:
    """A started editor; it leaves in good order."""
    each = Editor()
    each.settings = settings
    try:
        await each.start(list(folders), capabilities, options)
        yield each
        assert await each.leave() == 0
    finally:
        server = each.client._server
        if server is not None and server.returncode is None:
            server.kill()  # a failed test: its server would wait for more
        await each.client.stop()


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    """A test's coroutine, with a limit."""

    async def limited() -> None:
        await asyncio.wait_for(scenario(), PATIENCE)

    asyncio.run(limited())


def applied(text: str, edits: Any) -> str:
    """A text after a code action's edits (of ASCII text)."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    for edit in sorted(edits, key=lambda each: (each.range.start.line, each.range.start.character), reverse=True):
        start = starts[edit.range.start.line] + edit.range.start.character
        end = starts[edit.range.end.line] + edit.range.end.character
        text = text[:start] + edit.new_text + text[end:]
    return text
