"""The language server starts, says what it serves, keeps documents, and leaves, as a real client sees it."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from lsprotocol import types

from tests.lsp.editor import PATIENCE, editor, run
from tests.support.lsp.client import NO_ANSWER, LspClient, Message


def test_starts_declares_and_leaves():
    async def scenario() -> None:
        async with editor() as each:
            assert each.answer.server_info is not None
            assert each.answer.server_info.name == "dynascope"
            capabilities = each.answer.capabilities
            sync = capabilities.text_document_sync
            assert isinstance(sync, types.TextDocumentSyncOptions)
            assert sync.open_close
            assert sync.change == types.TextDocumentSyncKind.Incremental
            for name in (
                *("hover_provider", "inlay_hint_provider", "code_lens_provider", "diagnostic_provider"),
                *("code_action_provider", "inline_value_provider", "document_symbol_provider", "definition_provider"),
                *("workspace_symbol_provider", "notebook_document_sync"),
            ):
                assert getattr(capabilities, name), name

    run(scenario)


def test_declares_nothing_it_does_not_serve():
    async def scenario() -> None:
        async with editor() as each:
            for name in ("completion_provider", "rename_provider", "references_provider", "semantic_tokens_provider"):
                assert getattr(each.answer.capabilities, name) is None, name

    run(scenario)


def test_follows_a_document_and_answers_unknown_requests_with_an_error():
    async def scenario() -> None:
        async with editor() as each:
            uri = each.open(Path("/model.py"), "x = 1\n")
            each.client.text_document_did_change(
                types.DidChangeTextDocumentParams(
                    types.VersionedTextDocumentIdentifier(2, uri),
                    [
                        types.TextDocumentContentChangePartial(
                            types.Range(types.Position(0, 4), types.Position(0, 5)), "22"
                        )
                    ],
                )
            )
            with pytest.raises(Exception, match=r"(?i)method not found"):
                await each.client.text_document_completion_async(
                    types.CompletionParams(types.TextDocumentIdentifier(uri), types.Position(0, 0))
                )
            each.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    run(scenario)


def test_ends_when_the_client_vanishes():
    server = subprocess.Popen(
        [sys.executable, "-m", "dynascope_lsp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    server.communicate(timeout=PATIENCE)
    assert server.returncode is not None


def test_a_request_that_is_open_at_the_end_is_no_error(tmp_path: Path):
    asked = threading.Event()

    def serve(request: Message) -> object:
        asked.set()
        return NO_ANSWER

    with LspClient(cwd=tmp_path) as client:
        client.serve = serve
        client.start(tmp_path, capabilities={"workspace": {"configuration": True}})
        assert asked.wait(PATIENCE)
        client.end(shut_down=False)  # as a client does that crashes
        assert "Traceback" not in client.stderr, client.stderr


def test_never_imports_torch():
    code = (
        "import sys; from dynascope_lsp.serving import create_server; create_server();"
        "sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE)
