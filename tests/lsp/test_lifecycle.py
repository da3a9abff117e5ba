"""The language server starts, says what it serves, keeps documents, and leaves, as a real client sees it."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient

PATIENCE = 60


def served(scenario):
    """Run a coroutine against a started and initialised server, then shut it down; the server's exit code."""

    async def run() -> int | None:
        client = LanguageClient("test", "1")
        await client.start_io(sys.executable, "-m", "dynascope_lsp")
        try:
            answer = await client.initialize_async(
                types.InitializeParams(capabilities=types.ClientCapabilities(), root_uri=None)
            )
            client.initialized(types.InitializedParams())
            await scenario(client, answer)
            await client.shutdown_async(None)
            client.exit(None)
            return await client._server.wait()
        finally:
            await client.stop()

    return asyncio.run(asyncio.wait_for(run(), PATIENCE))


def test_starts_declares_and_leaves():
    async def scenario(client: LanguageClient, answer: types.InitializeResult) -> None:
        assert answer.server_info is not None
        assert answer.server_info.name == "dynascope"
        sync = answer.capabilities.text_document_sync
        assert isinstance(sync, types.TextDocumentSyncOptions)
        assert sync.open_close
        assert sync.change == types.TextDocumentSyncKind.Incremental

    assert served(scenario) == 0


def test_declares_nothing_it_does_not_serve():
    async def scenario(client: LanguageClient, answer: types.InitializeResult) -> None:
        capabilities = answer.capabilities
        for name in ("hover_provider", "inlay_hint_provider", "code_lens_provider", "diagnostic_provider"):
            assert getattr(capabilities, name) is None, name

    assert served(scenario) == 0


def test_follows_a_document_and_answers_unknown_requests_with_an_error():
    async def scenario(client: LanguageClient, answer: types.InitializeResult) -> None:
        uri = "file:///model.py"
        client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, types.LanguageKind.Python, 1, "x = 1\n"))
        )
        client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(2, uri),
                [types.TextDocumentContentChangePartial(types.Range(types.Position(0, 4), types.Position(0, 5)), "22")],
            )
        )
        with pytest.raises(Exception, match=r"(?i)method not found"):
            await client.text_document_hover_async(
                types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(0, 0))
            )
        client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    assert served(scenario) == 0


def test_ends_when_the_client_vanishes():
    server = subprocess.Popen(
        [sys.executable, "-m", "dynascope_lsp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    server.communicate(timeout=PATIENCE)
    assert server.returncode is not None
